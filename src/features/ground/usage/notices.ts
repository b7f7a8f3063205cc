/**
 * Notices to the members of a project: at 80% of a limit, and when it is reached. The transaction
 * in which the use reaches such a mark also stores the notice, so each mark of a limit is announced
 * once a month. A changed limit has marks of its own, but few notices are sent in a day: whoever
 * changes a limit again and again must not flood the members.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { sql } from '../../../store/drizzle.ts'
import { usageNotices } from '../../../store/schema/billing.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { type MonthChange, type MonthUse, readUse } from './counters.ts'
import { allLimits, hasSharedLimit, limitsFor, type UsageLimit } from './limits.ts'
import { monthOf } from './month.ts'

type NoticeDeps = Pick<Base, 'config' | 'reportUsage'>

/** The marks in percent of a limit, the highest first. */
const MARKS = [100, 80] as const

/** The most notices of one mark of a category in a day, whatever the limits were. */
const MAX_A_DAY = 3

const countRecent = statement<{ count: number }>(
  () => sql`select count(*) as count from usage_notices
    where project_id = ${parameter('projectId')} and starts_at = ${parameter('startsAt')}
      and category = ${parameter('category')} and percent = ${parameter('percent')}
      and created_at > ${parameter('after')}`,
)

const insertNotice = statement((db) =>
  db
    .insert(usageNotices)
    .values({
      projectId: parameter('projectId'),
      startsAt: parameter('startsAt'),
      category: parameter('category'),
      percent: parameter('percent'),
      limitEmails: parameter('limit'),
      createdAt: parameter('at'),
    })
    .onConflictDoNothing(),
)

/**
 * Announces the marks that a change of the use has reached. `after`: the use including the change.
 */
export async function announceCrossed(
  deps: NoticeDeps,
  tx: Tx,
  { after, change, at }: { after: MonthUse; change: MonthChange; at: number },
): Promise<void> {
  for (const limit of limitsFor(deps, after, change.category)) {
    const before = { ...limit, used: limit.used - change.count }
    const crossed = MARKS.filter((mark) => reaches(limit, mark) && !reaches(before, mark))
    if (crossed.length > 0) await announce(deps, tx, { use: after, limit, marks: crossed, at })
  }
}

/**
 * Announces all marks that the use has reached. Call it after the limits of the project have
 * changed.
 */
export async function announceReached(
  deps: NoticeDeps,
  tx: Tx,
  { projectId, at }: { projectId: string; at: number },
): Promise<void> {
  const use = await readUse(tx, { projectId, startsAt: monthOf(at) }, hasSharedLimit(deps))
  if (use === undefined) return
  for (const limit of allLimits(deps, use)) {
    const marks = MARKS.filter((mark) => reaches(limit, mark))
    if (marks.length > 0) await announce(deps, tx, { use, limit, marks, at })
  }
}

/** Whether the use has reached that percentage of the limit. */
export function reaches({ limit, used }: UsageLimit, percent: number): boolean {
  return used * 100 >= limit * percent
}

/** Announces marks that are reached at once by a single notice, for the highest mark. */
async function announce(
  deps: NoticeDeps,
  tx: Tx,
  {
    use: { projectId, startsAt },
    limit: { name, limit, used },
    marks,
    at,
  }: { use: MonthUse; limit: UsageLimit; marks: readonly (typeof MARKS)[number][]; at: number },
): Promise<void> {
  const notice = { projectId, startsAt, category: name, limit }
  const recent = await tx.find(countRecent, { ...notice, percent: marks[0], after: at - DAY_MS })
  // No row is written either, so that many changes of limits do not fill the disk.
  if (recent !== undefined && recent.count >= MAX_A_DAY) return
  let told: (typeof MARKS)[number] | undefined
  for (const percent of marks) {
    const isNew = (await tx.execute(insertNotice, { ...notice, percent, at })) > 0
    if (isNew && percent === marks[0]) told = percent
  }
  if (told !== undefined) await deps.reportUsage(tx, { ...notice, percent: told, used }, at)
}
