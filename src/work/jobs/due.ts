/**
 * Selects the jobs that may be claimed now, and their order.
 *
 * A project runs one job of a long kind at a time, even if it has enqueued more. The project whose
 * last job of the kind ended longest ago goes first, so that a project with many jobs does not hold up
 * the others.
 */
import { larger } from '../../store/dialect.ts'
import { and, gt, inArray, lte, min, type SQL, sql } from '../../store/drizzle.ts'
import { jobs } from '../../store/schema/jobs.ts'
import type { Store } from '../../store/store.ts'

export type DueKinds = {
  kinds: readonly string[]
  /** A project has at most one active job of each kind. Jobs without a project have no such limit. */
  onePerProject: boolean
}

/**
 * These conditions are literals, because SQLite does not match parameters with the terms of an
 * index. A query that needs the partial index of unfinished jobs repeats the condition of the index beside
 * its own, narrower condition: the planner does not deduce the wider condition from the narrower.
 */
const isWaiting = sql`state = 'waiting'`
export const isActiveJob = sql`state = 'active'`
export const isUnfinishedJob = sql`state in ('waiting', 'active')`

const hasNoneActive = sql`not exists (
  select 1 from jobs as other
  where other.kind = jobs.kind and other.project_id = jobs.project_id
    and other.state in ('waiting', 'active') and other.state = 'active')`

/**
 * Whether a job is the first among the due jobs of its kind and project. A window function would take twice
 * as long.
 */
const isFirst = (now: number) => sql`not exists (
  select 1 from jobs as other
  where other.kind = jobs.kind and other.project_id = jobs.project_id
    and other.state in ('waiting', 'active') and other.state = 'waiting' and other.run_at <= ${now}
    and (other.priority, other.run_at, other.id) < (jobs.priority, jobs.run_at, jobs.id))`

const lastEnd = (state: 'completed' | 'failed' | 'cancelled') => sql`coalesce((
  select max(completed_at) from jobs as ended
  where ended.project_id = jobs.project_id and ended.kind = jobs.kind
    and ended.state = ${sql.raw(`'${state}'`)} and ended.completed_at is not null), 0)`
const lastServed = larger(larger(lastEnd('completed'), lastEnd('failed')), lastEnd('cancelled'))

/** Returns whether a claim would find a job, without a transaction. */
export async function isWorkDue(
  store: Pick<Store, 'read'>,
  groups: readonly DueKinds[],
  now: number,
): Promise<boolean> {
  for (const onePerProject of [false, true]) {
    const some = groups.filter((group) => group.onePerProject === onePerProject)
    const kinds = some.flatMap((group) => group.kinds)
    if (kinds.length > 0 && (await isAny(store, isDue({ kinds, onePerProject }, now)))) return true
  }
  return isAny(store, and(isActiveJob, lte(jobs.leaseUntil, now)))
}

/** When the next job of these kinds becomes due after `now`, or the next lease ends. */
export async function findNextDueJob(
  { read }: Pick<Store, 'read'>,
  groups: readonly DueKinds[],
  now: number,
): Promise<number | undefined> {
  const kinds = groups.flatMap((group) => group.kinds)
  const isLater = and(isUnfinishedJob, isWaiting, gt(jobs.runAt, now), inArray(jobs.kind, kinds))
  const isLeased = and(isActiveJob, gt(jobs.leaseUntil, now))
  const [waiting] = await read
    .select({ at: min(jobs.runAt) })
    .from(jobs)
    .where(isLater)
  const [leased] = await read
    .select({ at: min(jobs.leaseUntil) })
    .from(jobs)
    .where(isLeased)
  const times = [waiting?.at, leased?.at].filter((at) => typeof at === 'number')
  return times.length === 0 ? undefined : Math.min(...times)
}

/** A sub-select of the ids of the first `limit` due jobs. */
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
    isUnfinishedJob,
    isWaiting,
    lte(jobs.runAt, now),
    inArray(jobs.kind, [...kinds]),
    onePerProject ? hasNoneActive : undefined,
  )
}

async function isAny({ read }: Pick<Store, 'read'>, which: SQL | undefined): Promise<boolean> {
  return !!(await read.select({ id: jobs.id }).from(jobs).where(which).limit(1).get())
}
