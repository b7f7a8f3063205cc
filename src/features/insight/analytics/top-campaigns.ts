/** The campaigns that were sent in a range and opened by most recipients. */
import type { TopCampaign } from '../../../records/analytics-days.ts'
import { and, desc, eq, gte, lt } from '../../../store/drizzle.ts'
import { campaignProgress, campaigns } from '../../../store/schema/campaigns.ts'
import { percent } from './metrics.ts'
import type { AnalyticsDeps, AnalyticsQuery } from './read-counts.ts'

/** The figures are those of the campaigns, whenever they came to be; so they never shrink. */
export async function findTopCampaigns(
  { store }: Pick<AnalyticsDeps, 'store'>,
  { projectId, range, limit }: Pick<AnalyticsQuery, 'projectId' | 'range'> & { limit: number },
): Promise<TopCampaign[]> {
  const { sentCount, openedCount, clickedCount } = campaignProgress
  const { id, subject, sentAt, status } = campaigns
  const found = await store.scan
    .select({ id, subject, sentCount, openedCount, clickedCount })
    .from(campaigns)
    .innerJoin(campaignProgress, eq(campaignProgress.campaignId, id))
    .where(
      and(
        eq(campaigns.projectId, projectId),
        eq(status, 'SENT'),
        gte(sentAt, range.fromAt),
        lt(sentAt, range.toAt),
      ),
    )
    .orderBy(desc(openedCount), desc(sentAt), id)
    .limit(limit)
  return found.map((campaign) => ({
    ...campaign,
    openRate: percent(campaign.openedCount, campaign.sentCount),
    clickRate: percent(campaign.clickedCount, campaign.sentCount),
  }))
}
