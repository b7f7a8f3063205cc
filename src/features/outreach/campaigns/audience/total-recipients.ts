/**
 * Keeps the number of recipients in the record of a campaign. A request waits for the count for a
 * moment only; a count that takes longer, or was cut off, is in the record a little later.
 */
import { isUncounted } from '../../../../store/campaign-terms.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../../store/schema/campaigns.ts'
import type { Base } from '../../../ground/base.ts'
import type { CampaignKey } from '../find.ts'
import { countRecipients } from './count.ts'
import { countLogged, withinPatience } from './patience.ts'

type Deps = Pick<Base, 'store' | 'sharedRuns' | 'now' | 'log'>

/** Counts a new or changed audience, and waits up to two seconds for the result. */
export async function countSoon(
  deps: Deps,
  campaign: Pick<Campaign, 'id' | 'projectId' | 'totalRecipients'>,
): Promise<void> {
  if (campaign.totalRecipients !== null) return
  await withinPatience(countRecorded(deps, campaign))
}

/** Counts the audiences that no request has counted. @throws the signal's reason when it aborts */
export async function countUncounted(deps: Deps, signal: AbortSignal): Promise<void> {
  const uncounted = await deps.store.scan
    .select({ id: campaigns.id, projectId: campaigns.projectId })
    .from(campaigns)
    .where(isUncounted)
  for (const key of uncounted) {
    signal.throwIfAborted()
    await countRecorded(deps, key)
  }
}

/** A failure is logged; the count is tried again within a minute. */
function countRecorded(deps: Deps, key: CampaignKey): Promise<void> {
  return countLogged(deps, key, {
    of: 'recipients',
    count: (campaign) => record(deps, campaign),
  })
}

/** An audience that was changed meanwhile stays uncounted. */
async function record(deps: Deps, campaign: Campaign): Promise<void> {
  const { id, version } = campaign
  if (campaign.totalRecipients !== null) return
  const totalRecipients = await countRecipients(deps, campaign)
  await deps.store.write((tx) =>
    tx
      .update(campaigns)
      .set({ totalRecipients })
      .where(and(eq(campaigns.id, id), eq(campaigns.version, version), isUncounted)),
  )
}
