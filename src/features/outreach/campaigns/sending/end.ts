/** The end of a campaign's sending: all emails are made and none of them waits. */

import { indexedBy } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { campaigns } from '../../../../store/schema/campaigns.ts'
import { isUnfinishedOfCampaign } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { appendCampaignEvent } from '../append-event.ts'
import { loadCampaign } from '../find.ts'
import { type ActiveCampaign, findSending } from './active.ts'

type Deps = Pick<Base, 'store' | 'now'>

const findWaiting = statement<{ isWaiting: number }>(
  () => sql`select 1 as "isWaiting" from emails ${indexedBy('emails_campaign_shelf')}
    where campaign_id = ${parameter('campaignId')}
      and ${isUnfinishedOfCampaign} limit 1`,
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
