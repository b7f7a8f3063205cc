/** The end of a campaign's sending: all emails are made and none of them waits; or trouble. */

import { indexedBy } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import type { PauseReason } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { loadCampaign } from '../find.ts'
import { type ActiveCampaign, findSending } from './active.ts'
import { appendCampaignEvent } from './events.ts'

type Deps = Pick<Base, 'store' | 'now'>

const findWaiting = statement<{ isWaiting: number }>(
  () => sql`select 1 as "isWaiting" from emails ${indexedBy('emails_campaign_waiting')}
    where campaign_id = ${parameter('campaignId')}
      and state in ('queued', 'deferred', 'held', 'paused', 'sending') limit 1`,
)

/** Ends an expanded campaign unless mail of it waits or is being sent. Returns whether it ended. */
export async function endIfDone({ store, now }: Deps, { id }: ActiveCampaign): Promise<boolean> {
  if ((await store.read.find(findWaiting, { campaignId: id })) !== undefined) return false
  return store.write(async (tx) => {
    const active = await findSending(tx, id)
    if (active === undefined || active.expandedAt === null) return false
    if ((await tx.find(findWaiting, { campaignId: id })) !== undefined) return false
    const { projectId } = active
    const campaign = await loadCampaign(tx, { projectId, id })
    const at = now()
    const totalRecipients = campaign.progress?.rowsMade ?? 0
    await tx
      .update(campaigns)
      .set({ status: 'SENT', sentAt: at, totalRecipients, updatedAt: at })
      .where(eq(campaigns.id, id))
    await appendCampaignEvent(tx, 'campaign.sent', { campaign, data: { totalRecipients }, at })
    return true
  })
}

/** Pauses a campaign that cannot go on. Mail of it that waits is stopped when it is claimed. */
export async function pauseForTrouble(
  { store, directory, now }: Deps & Pick<Base, 'directory'>,
  { id, projectId }: ActiveCampaign,
  reason: PauseReason,
): Promise<void> {
  await store.write(async (tx: Tx) => {
    if ((await findSending(tx, id)) === undefined) return
    const campaign = await loadCampaign(tx, { projectId, id })
    const at = now()
    await tx
      .update(campaigns)
      .set({ pausedAt: at, pauseReason: reason, updatedAt: at })
      .where(eq(campaigns.id, id))
    await appendCampaignEvent(tx, 'campaign.paused', { campaign, data: { reason }, at })
    tx.afterCommit(() => directory.drop())
  })
}
