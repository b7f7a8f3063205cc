/**
 * Which jobs may be claimed now, and in what order.
 *
 * Of long work a project has one job of a kind at a time, however many it has asked for, and the
 * project that was served longest ago goes first: who asks for little does not wait until who asked
 * for much has had it all.
 */
import { and, inArray, lte, type SQL, sql } from '../store/drizzle.ts'
import { jobs } from '../store/schema/jobs.ts'
import type { Store } from '../store/store.ts'

export type DueKinds = {
  kinds: readonly string[]
  /** A project has one active job of each of them at most; those of no project are not counted. */
  onePerProject: boolean
}

/**
 * Literal, and where the index is that of the unfinished in its own words beside: SQLite cannot tell
 * that something else means the same.
 */
const isWaiting = sql`state = 'waiting'`
export const isActive = sql`state = 'active'`
export const isUnfinished = sql`state in ('waiting', 'active')`

const hasNoneActive = sql`not exists (
  select 1 from jobs as other
  where other.kind = jobs.kind and other.project_id = jobs.project_id
    and other.state in ('waiting', 'active') and other.state = 'active')`

/** Of the due jobs of its kind and project; a window function would take twice as long. */
const isFirst = (now: number) => sql`not exists (
  select 1 from jobs as other
  where other.kind = jobs.kind and other.project_id = jobs.project_id
    and other.state in ('waiting', 'active') and other.state = 'waiting' and other.run_at <= ${now}
    and (other.priority, other.run_at, other.id) < (jobs.priority, jobs.run_at, jobs.id))`

const lastEnd = (state: 'completed' | 'failed') => sql`coalesce((
  select max(completed_at) from jobs as ended
  where ended.project_id = jobs.project_id and ended.kind = jobs.kind
    and ended.state = ${sql.raw(`'${state}'`)} and ended.completed_at is not null), 0)`
const lastServed = sql`max(${lastEnd('completed')}, ${lastEnd('failed')})`

/** Whether a claim would find anything; costs no transaction. */
export async function isWorkDue(
  store: Pick<Store, 'read'>,
  lanes: readonly DueKinds[],
  now: number,
): Promise<boolean> {
  for (const onePerProject of [false, true]) {
    const meant = lanes.filter((lane) => lane.onePerProject === onePerProject)
    const kinds = meant.flatMap((lane) => lane.kinds)
    if (kinds.length > 0 && (await isAny(store, isDue({ kinds, onePerProject }, now)))) return true
  }
  return isAny(store, and(isActive, lte(jobs.leaseUntil, now)))
}

/** The ids of up to `limit` due jobs, those that go first: a sub-select. */
export function selectDue(
  { kinds, onePerProject }: DueKinds,
  { limit, now }: { limit: number; now: number },
): SQL {
  const due = isDue({ kinds, onePerProject }, now)
  if (!onePerProject) {
    return sql`select id from jobs where ${due} order by priority, run_at limit ${limit}`
  }
  return sql`select id from jobs where ${isFirst(now)} and ${due}
    order by priority, ${lastServed}, run_at limit ${limit}`
}

function isDue({ kinds, onePerProject }: DueKinds, now: number): SQL | undefined {
  return and(
    isUnfinished,
    isWaiting,
    lte(jobs.runAt, now),
    inArray(jobs.kind, [...kinds]),
    onePerProject ? hasNoneActive : undefined,
  )
}

async function isAny({ read }: Pick<Store, 'read'>, which: SQL | undefined): Promise<boolean> {
  return !!(await read.select({ id: jobs.id }).from(jobs).where(which).limit(1).get())
}
