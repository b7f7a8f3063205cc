/** Appends an event about a campaign as a whole: such an event has no contact and no email. */
import type { Campaign } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { appendEvent } from '../../ground/events/append.ts'

type CampaignEventName =
  | 'campaign.scheduled'
  | 'campaign.sent'
  | 'campaign.paused'
  | 'campaign.resumed'
  | 'campaign.cancelled'

type CampaignEvent = {
  campaign: Pick<Campaign, 'id' | 'projectId' | 'name'>
  /** Data of the event besides the campaign's id and name. */
  data?: Record<string, unknown>
  at: number
}

export async function appendCampaignEvent(
  tx: Tx,
  name: CampaignEventName,
  { campaign, data = {}, at }: CampaignEvent,
): Promise<void> {
  await appendEvent(tx, {
    projectId: campaign.projectId,
    contactId: null,
    emailId: null,
    name,
    data: { campaignId: campaign.id, campaignName: campaign.name, ...data },
    at,
  })
}
