/** The figures of events, links and campaigns in a range. */
import type { EventFigures, LinkFigures } from '../../../records/analytics.ts'
import type { CampaignFigures, TopCampaign, TopEvent } from '../../../records/analytics-days.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { listOf } from '../../../store/dialect.ts'
import { and, desc, eq, gte, lt, or, type SQLiteColumn, sql } from '../../../store/drizzle.ts'
import { campaignProgress, campaigns } from '../../../store/schema/campaigns.ts'
import { percent } from './metrics.ts'
import {
  type AnalyticsDeps,
  type AnalyticsQuery,
  bothPeriods,
  currentPeriod,
  SEGMENT,
  subjectRows,
} from './read-counts.ts'

const NEW_TREND = 100

type LinkRow = LinkFigures['links'][number] & { totalClicks: number }

/**
 * The number of events by name, in the range and in the equal one before it, the most frequent
 * first. Events count at their own instant. Names that lists omit are left out.
 */
export async function findEvents(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream, limit }: AnalyticsQuery & { limit: number },
): Promise<EventFigures[]> {
  const spans = bothPeriods(range, now())
  const sumOf = (segment: number) =>
    sql`coalesce(sum(counts.events) filter (where ${SEGMENT} = ${sql.raw(String(segment))}), 0)`
  return store.scan.all<EventFigures>(
    sql`select nullif(subjects.name, '') as name, count, "previousCount"
      from (
        select counts.subject, ${sumOf(1)} as count, ${sumOf(0)} as "previousCount"
        ${subjectRows('event_counts', { projectId, stream, spans })} group by counts.subject
      ) as happened
      join analytics_subjects as subjects on subjects.id = happened.subject
      where subjects.name not in ${listOf(UNLISTED_EVENTS)}
      order by count desc, "previousCount" desc, subjects.name limit ${sql.raw(String(limit))}`,
  )
}

/** The most frequent events of a range, in the form that older clients read. */
export async function findTopEvents(
  deps: AnalyticsDeps,
  query: AnalyticsQuery & { limit: number },
): Promise<TopEvent[]> {
  // One name more than the limit is read, because the sum of the further names, which has no name,
  // may be among them and is left out.
  const found = await findEvents(deps, { ...query, limit: query.limit + 1 })
  const named = found.flatMap(({ name, count, previousCount }) =>
    name === null || count === 0 ? [] : [{ name, count, trend: trendOf(count, previousCount) }],
  )
  return named.slice(0, query.limit)
}

/** The links that were clicked in the mail of a range; the link with most clicks comes first. */
export async function findLinks(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream, limit }: AnalyticsQuery & { limit: number },
): Promise<LinkFigures> {
  const spans = currentPeriod(range, now())
  const rows = await store.scan.all<LinkRow>(
    sql`select nullif(subjects.name, '') as url, clicks, "uniqueClickers", "totalClicks"
      from (
        select counts.subject, sum(counts.clicks) as clicks,
          sum(counts.first_clicks) as "uniqueClickers",
          sum(sum(counts.clicks)) over () as "totalClicks"
        ${subjectRows('link_counts', { projectId, stream, spans })} group by counts.subject
        order by 2 desc, 3 desc, counts.subject limit ${sql.raw(String(limit))}
      ) as links
      join analytics_subjects as subjects on subjects.id = links.subject
      order by clicks desc, "uniqueClickers" desc, links.subject`,
  )
  return {
    totalClicks: rows[0]?.totalClicks ?? 0,
    links: rows.map(({ url, clicks, uniqueClickers }) => ({ url, clicks, uniqueClickers })),
  }
}

/**
 * The campaigns that were sent in a range, those with most opening recipients first. Their figures
 * include later opens and clicks, so they never shrink.
 */
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

/** The number of a project's campaigns, and their average rates of opens and clicks. */
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

function trendOf(count: number, previousCount: number): number {
  if (previousCount === 0) return NEW_TREND
  return Math.round((100 * (count - previousCount)) / previousCount)
}

function oneDecimal(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((1_000 * part) / whole) / 10
}
