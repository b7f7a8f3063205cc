/** Events of campaigns: they have no contact and no email. */
import type { Campaign } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { appendEvent } from '../../events/append.ts'

export async function appendCampaignEvent(
  tx: Tx,
  name: 'campaign.scheduled' | 'campaign.sent' | 'campaign.paused',
  {
    campaign,
    data = {},
    at,
  }: {
    campaign: Pick<Campaign, 'id' | 'projectId' | 'name'>
    data?: Record<string, unknown>
    at: number
  },
): Promise<void> {
  await appendEvent(tx, {
    projectId: campaign.projectId,
    name,
    contactId: null,
    emailId: null,
    data: { campaignId: campaign.id, campaignName: campaign.name, ...data },
    at,
  })
}
