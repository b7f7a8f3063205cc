/** How many campaigns a project has, and how their recipients took them on average. */
import type { CampaignFigures } from '../../../records/analytics-days.ts'
import { and, eq, gte, lt, or, type SQLiteColumn, sql } from '../../../store/drizzle.ts'
import { campaignProgress, campaigns } from '../../../store/schema/campaigns.ts'
import type { AnalyticsDeps, AnalyticsQuery } from './read-counts.ts'

export async function findCampaignStats(
  { store }: Pick<AnalyticsDeps, 'store'>,
  { projectId, range }: Pick<AnalyticsQuery, 'projectId' | 'range'>,
): Promise<CampaignFigures> {
  const { sentCount, openedCount, clickedCount } = campaignProgress
  const { createdAt, sentAt, status } = campaigns
  const isMade = and(gte(createdAt, range.fromAt), lt(createdAt, range.toAt))
  const isSent = and(eq(status, 'SENT'), gte(sentAt, range.fromAt), lt(sentAt, range.toAt))
  const sumOf = (column: SQLiteColumn) =>
    sql<number>`coalesce(sum(${column}) filter (where ${isSent}), 0)`
  const found = await store.scan
    .select({
      total: sql<number>`count(*) filter (where ${isMade})`,
      active: sql<number>`count(*) filter (where ${isMade} and ${status} in ('DRAFT', 'SCHEDULED'))`,
      completed: sql<number>`count(*) filter (where ${isSent})`,
      sent: sumOf(sentCount),
      opened: sumOf(openedCount),
      clicked: sumOf(clickedCount),
    })
    .from(campaigns)
    .leftJoin(campaignProgress, eq(campaignProgress.campaignId, campaigns.id))
    .where(and(eq(campaigns.projectId, projectId), or(isMade, isSent)))
    .get()
  const { total = 0, active = 0, completed = 0, sent = 0, opened = 0, clicked = 0 } = found ?? {}
  return {
    ...{ total, active, completed },
    averageOpenRate: oneDecimal(opened, sent),
    averageClickRate: oneDecimal(clicked, sent),
  }
}

function oneDecimal(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((1_000 * part) / whole) / 10
}
