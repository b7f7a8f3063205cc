/**
 * The figures of a project in a range of time, read from the counts of analytics: events by their own
 * instant, emails by the instant of their acceptance, as in `GET /analytics/overview`. So they do not
 * shrink when contacts are deleted. An instant within a quarter of an hour means the whole quarter.
 */
import type { ActivityStats } from '../../../records/activity.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { QUARTER_MS } from '../analytics/buckets.ts'
import { NO_MAIL } from '../analytics/mail-counts.ts'
import { percent } from '../analytics/metrics.ts'
import { UTC } from '../analytics/range/zone.ts'
import { type AnalyticsDeps, subjectRows, sumSpans } from '../analytics/read-counts.ts'
import { DEFAULT_SPAN_MS } from './list.ts'

/** Epoch ms, both included. The end defaults to now, the start to 30 days before the end. */
export type StatsRange = { startAt?: number | undefined; endAt?: number | undefined }

type StatsQuery = { projectId: string; range: StatsRange }
type EventSums = { events: number; workflowsStarted: number }

export async function countActivity(
  deps: AnalyticsDeps,
  { projectId, range }: StatsQuery,
): Promise<ActivityStats> {
  const counts = { projectId, stream: 'ALL', spans: spansOf(range, deps.now()) } as const
  const { sent, opened, clicked } = (await sumSpans(deps, counts)).get(0) ?? NO_MAIL
  const [happened] = await deps.store.scan.all<EventSums>(
    sql`select coalesce(sum(events), 0) as events,
        coalesce(sum(events) filter (where name = 'workflow.started'), 0) as "workflowsStarted"
      from (
        select counts.subject, sum(counts.events) as events
        ${subjectRows('event_counts', counts)} group by counts.subject
      ) as happened
      join analytics_subjects as subjects on subjects.id = happened.subject
      where name not in ${listOf(UNLISTED_EVENTS)}`,
  )
  return {
    totalEvents: happened?.events ?? 0,
    totalEmailsSent: sent,
    totalEmailsOpened: opened,
    totalEmailsClicked: clicked,
    totalWorkflowsStarted: happened?.workflowsStarted ?? 0,
    openRate: percent(opened, sent),
    clickRate: percent(clicked, sent),
  }
}

function spansOf({ startAt, endAt }: StatsRange, now: number) {
  const lastAt = endAt ?? now
  const firstAt = startAt ?? Math.min(now, lastAt) - DEFAULT_SPAN_MS
  const borders = [quarterOf(firstAt), quarterOf(lastAt) + QUARTER_MS]
  return { borders, zone: UTC, now }
}

function quarterOf(at: number): number {
  return Math.floor(at / QUARTER_MS) * QUARTER_MS
}
