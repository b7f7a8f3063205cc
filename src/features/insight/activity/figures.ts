/**
 * The figures of a project's activity: in a range of time, and in the last minutes.
 *
 * The figures of a range come from the counts of analytics: events count at their own instant,
 * emails at the instant of their acceptance, as in `GET /analytics/overview`. So the figures do not
 * shrink when contacts are deleted. An instant within a quarter of an hour means the whole quarter.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import type { ActivityStats } from '../../../records/activity.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { listOf } from '../../../store/dialect.ts'
import { and, eq, gt, sql } from '../../../store/drizzle.ts'
import { firstIdAt } from '../../../store/ids.ts'
import { events } from '../../../store/schema/events.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { isListed } from '../../ground/events/unlisted.ts'
import { QUARTER_MS } from '../analytics/buckets.ts'
import { NO_MAIL } from '../analytics/mail-counts.ts'
import { percent } from '../analytics/metrics.ts'
import { UTC } from '../analytics/range/zone.ts'
import { type AnalyticsDeps, subjectRows, sumSpans } from '../analytics/read-counts.ts'
import { DEFAULT_SPAN_MS } from './list.ts'

/**
 * The bounds of a range in epoch ms, both included. The end is now by default, the start 30 days
 * before the end.
 */
export type StatsRange = { startAt?: number | undefined; endAt?: number | undefined }

type StatsQuery = { projectId: string; range: StatsRange }

type EventSums = { events: number; workflowsStarted: number }

type RecentCount = { count: number; minutes: number }

/** The number of the server's newest emails that are searched at most. */
const MAX_EMAILS = 100_000

const isSince = and(
  eq(events.projectId, parameter('projectId')),
  gt(events.createdAt, parameter('since')),
  isListed,
)

/** Counts events along the index events_listed. */
export const countSince = statement((db) =>
  db.select({ count: sql<number>`count(*)` }).from(events).where(isSince),
)

/** Counts emails along their ids, which are in the order of time, so no other index is needed. */
export const countEmailsSince = statement<{ count: number }>(
  () => sql`select count(*) as count from (
      select ${emails.projectId} as project_id from ${emails}
      where ${emails.id} > ${parameter('firstId')}
      order by ${emails.id} desc limit ${parameter('limit')}
    ) where project_id = ${parameter('projectId')}`,
)

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

/**
 * Counts events and new emails of the last minutes, for a live indicator. The start of an execution
 * is an event.
 */
export async function countRecent(
  { store, now }: Pick<Base, 'store' | 'now'>,
  projectId: string,
  minutes: number,
): Promise<RecentCount> {
  const since = now() - minutes * MINUTE_MS
  const limit = MAX_EMAILS
  const [happened, accepted] = await Promise.all([
    store.scan.find(countSince, { projectId, since }),
    store.scan.find(countEmailsSince, { projectId, firstId: firstIdAt(since), limit }),
  ])
  return { count: (happened?.count ?? 0) + (accepted?.count ?? 0), minutes }
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
