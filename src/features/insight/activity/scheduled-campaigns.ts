/** Lists the scheduled campaigns of a project for `GET /activity/upcoming`. */
import { formatInstant } from '../../../base/clock.ts'
import { isActive } from '../../../store/campaign-terms.ts'
import { and, asc, eq, gt, lte } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { UpcomingSource } from './upcoming-source.ts'

export const listUpcomingCampaigns: UpcomingSource = async (
  { store },
  { projectId, from, until, limit },
) => {
  const { id, name, subject, scheduledFor, totalRecipients, audienceType } = campaigns
  const rows = await store.scan
    .select({
      ...{ id, name, subject, scheduledFor, totalRecipients, audienceType },
      segmentName: segments.name,
    })
    .from(campaigns)
    .leftJoin(segments, eq(segments.id, campaigns.segmentId))
    .where(
      and(
        isActive,
        eq(campaigns.projectId, projectId),
        eq(campaigns.status, 'SCHEDULED'),
        gt(campaigns.scheduledFor, from),
        lte(campaigns.scheduledFor, until),
      ),
    )
    .orderBy(asc(scheduledFor), asc(id))
    .limit(limit)
  return rows.map((campaign) => ({
    id: `campaign_${campaign.id}_scheduled`,
    type: 'campaign.scheduled',
    timestamp: formatInstant(campaign.scheduledFor ?? 0),
    metadata: {
      campaignId: campaign.id,
      campaignName: campaign.name,
      subject: campaign.subject,
      totalRecipients: campaign.totalRecipients ?? 0,
      segmentName: campaign.segmentName,
      audienceType: campaign.audienceType,
    },
  }))
}
