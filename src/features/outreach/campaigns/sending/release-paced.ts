/**
 * Gives the emails of a paced campaign that were put aside new slots, at most a minute ahead. No other
 * emails are made meanwhile.
 */
import { eq } from '../../../../store/drizzle.ts'
import { campaignProgress } from '../../../../store/schema/campaigns.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { notifyReleased } from '../../../mail/messages/queue/aside.ts'
import type { QueueNotifier } from '../../../mail/messages/queue/notifier.ts'
import { findUntried, releaseUntried } from '../waiting-rows.ts'
import { type ActiveCampaign, findSending } from './active.ts'
import { countSlots, slotsOf } from './pace.ts'

type Deps = Pick<Base, 'store' | 'now'> & { queueNotifier: QueueNotifier }

const BATCH = 200

/** Returns after how many ms to call again at the earliest; undefined if no such email waits. */
export async function releasePaced(
  deps: Deps,
  campaign: ActiveCampaign,
): Promise<number | undefined> {
  const { id, projectId } = campaign
  if ((await deps.store.read.find(findUntried, { campaignId: id })) === undefined) return undefined
  const { slots, waitMs } = countSlots(campaign, deps.now())
  if (slots === 0) return Math.max(1, waitMs)
  await deps.store.write((tx) => releaseSome(deps, tx, id), { heavyFor: projectId })
  return 0
}

async function releaseSome({ now, queueNotifier }: Deps, tx: Tx, id: string): Promise<void> {
  const active = await findSending(tx, id)
  if (active === undefined || active.maxPerHour === null || active.hasOldSlots) return
  const at = now()
  const released = await tx.list(releaseUntried, {
    ...{ campaignId: id, maxPerHour: active.maxPerHour, at },
    firstAt: slotsOf(active, { count: 0, now: at }).pacedAt,
    limit: Math.min(BATCH, countSlots(active, at).slots),
  })
  const { pacedAt } = slotsOf(active, { count: released.length, now: at })
  await tx.update(campaignProgress).set({ pacedAt }).where(eq(campaignProgress.campaignId, id))
  tx.afterCommit(() => notifyReleased(queueNotifier, released))
}
