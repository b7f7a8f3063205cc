/**
 * Lets the campaigns go on that a fence paused: those that were being sent are resumed, and scheduled ones
 * fire at their time, or now if it has passed.
 */
import { and, eq, inArray, type SQL } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { loadCampaign } from './find.ts'
import type { StopDeps } from './pause.ts'
import { resumeInTx } from './resume.ts'

/** `which`: a condition on campaigns. Returns how many go on. */
export async function releaseRestored(deps: StopDeps, tx: Tx, which: SQL): Promise<number> {
  const paused = await tx
    .select({ id: campaigns.id, projectId: campaigns.projectId })
    .from(campaigns)
    .where(
      and(
        inArray(campaigns.status, ['SCHEDULED', 'SENDING']),
        eq(campaigns.pauseReason, 'restored'),
        which,
      ),
    )
  for (const key of paused) await resumeInTx(deps, tx, await loadCampaign(tx, key))
  return paused.length
}
