/**
 * The counts of a project's mail in windows of time, from which its reputation is judged; `follow-events.ts` counts by
 * the hour, and in all since the project was last enabled.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type SweepPace, sweepPages } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'

export type ReputationCounts = { emails: number; bounces: number; complaints: number }

/** The counts of the last 24 hours, of the last 7 days, and since the project was last enabled. */
export type ReputationWindows = {
  day: ReputationCounts
  week: ReputationCounts
  all: ReputationCounts
}

type ReputationRow = Record<
  `${'day' | 'week' | 'all'}${'Emails' | 'Bounces' | 'Complaints'}`,
  number
>

/** The age up to which hours are kept; the longest window has 7 days. */
const KEPT_MS = 8 * DAY_MS
const WEEK_MS = 7 * DAY_MS
/** Projects whose hours one batch deletes; each project has some 200 hours in each table. */
const PACE: SweepPace = { rows: 20, rest: 'none' }
const EXPIRED = [expiredOf('reputation_hours'), expiredOf('new_project_hours')]

/** Reads at most 170 rows of hours. */
const findWindows = statement<ReputationRow>(
  () => sql`select ${sumOfDay('emails')} as "dayEmails", ${sumOfDay('bounces')} as "dayBounces",
      ${sumOfDay('complaints')} as "dayComplaints",
      coalesce(sum(emails), 0) as "weekEmails", coalesce(sum(bounces), 0) as "weekBounces",
      coalesce(sum(complaints), 0) as "weekComplaints",
      ${total('emails')} as "allEmails", ${total('bounces')} as "allBounces",
      ${total('complaints')} as "allComplaints"
    from reputation_hours
    where project_id = ${parameter('projectId')} and starts_at > ${parameter('weekAgo')}
      and starts_at >= ${parameter('since')}`,
)

function sumOfDay(column: keyof ReputationCounts) {
  return sql`coalesce(sum(${sql.raw(column)}) filter (where starts_at > ${parameter('dayAgo')}), 0)`
}

function total(column: keyof ReputationCounts) {
  return sql`coalesce((select ${sql.raw(column)} from reputation_totals
    where project_id = ${parameter('projectId')}), 0)`
}

/**
 * Reads the counts up to `at`. The day and the week consist of whole hours; the first hour of a
 * project begins when the project was enabled (`since`).
 */
export async function readWindows(
  reader: Pick<Tx, 'find'>,
  { projectId, since, at }: { projectId: string; since: number; at: number },
): Promise<ReputationWindows> {
  const range = { dayAgo: at - DAY_MS, weekAgo: at - WEEK_MS, since }
  const row = await reader.find(findWindows, { projectId, ...range })
  const countsOf = (window: 'day' | 'week' | 'all'): ReputationCounts => ({
    emails: row?.[`${window}Emails`] ?? 0,
    bounces: row?.[`${window}Bounces`] ?? 0,
    complaints: row?.[`${window}Complaints`] ?? 0,
  })
  return { day: countsOf('day'), week: countsOf('week'), all: countsOf('all') }
}

/** Deletes the hours that no window reaches any more, for some projects in each transaction. */
export async function deleteExpiredHours(
  deps: Pick<Base, 'store' | 'now'>,
  signal?: AbortSignal,
): Promise<void> {
  const before = deps.now() - KEPT_MS
  const rules = { pace: PACE, heavyFor: undefined, signal }
  for (const { list, erase } of EXPIRED) {
    const expired = await deps.store.scan.list(list, { before })
    await sweepPages<{ projectId: string }, number>(deps, rules, {
      from: 0,
      pages: [expired],
      change: (tx, some) => {
        const projectIds = JSON.stringify(some.map(({ projectId }) => projectId))
        return tx.execute(erase, { before, projectIds })
      },
    })
  }
}

/**
 * `list`: selects the projects with expired hours. `erase`: deletes these hours of some of the
 * projects.
 */
function expiredOf(table: string) {
  const isExpired = sql`starts_at < ${parameter('before')}`
  return {
    list: statement<{ projectId: string }>(
      () =>
        sql`select distinct project_id as "projectId" from ${sql.raw(table)} where ${isExpired}`,
    ),
    erase: statement(
      () => sql`delete from ${sql.raw(table)}
        where project_id in ${listOf(parameter('projectIds'))} and ${isExpired}`,
    ),
  }
}
