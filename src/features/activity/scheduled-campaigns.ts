/** Lists the scheduled campaigns of a project for `GET /activity/upcoming`. */
import { formatInstant } from '../../clock.ts'
import { and, asc, eq, gt, lte } from '../../store/drizzle.ts'
import { campaigns } from '../../store/schema/campaigns.ts'
import { selectCampaigns } from '../campaigns/find.ts'
import type { UpcomingSource } from './upcoming-source.ts'

export const listUpcomingCampaigns: UpcomingSource = async (
  { store },
  { projectId, from, until, limit },
) => {
  const rows = await selectCampaigns(store.scan)
    .where(
      and(
        eq(campaigns.projectId, projectId),
        eq(campaigns.status, 'SCHEDULED'),
        gt(campaigns.scheduledFor, from),
        lte(campaigns.scheduledFor, until),
      ),
    )
    .orderBy(asc(campaigns.scheduledFor), asc(campaigns.id))
    .limit(limit)
  return rows.map(({ campaign, segment }) => ({
    id: `campaign_${campaign.id}_scheduled`,
    type: 'campaign.scheduled',
    timestamp: formatInstant(campaign.scheduledFor ?? 0),
    metadata: {
      campaignId: campaign.id,
      campaignName: campaign.name,
      subject: campaign.subject,
      totalRecipients: campaign.totalRecipients ?? 0,
      segmentName: segment?.name ?? null,
      audienceType: campaign.audienceType,
    },
  }))
}
