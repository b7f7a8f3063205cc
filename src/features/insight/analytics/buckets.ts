/**
 * Buckets of time: each email and each event is counted in a quarter of an hour and in a day, both
 * of UTC. Quarters are deleted when they are older than any range that a request may ask for.
 */
import { DAY_MS, MINUTE_MS } from '../../../base/clock.ts'
import type { Statement } from '../../../store/database.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { type SweepPace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'

/** The length of the short buckets. The offset of every time zone in use is a multiple of it. */
export const QUARTER_MS = 15 * MINUTE_MS

/** The lengths of buckets, as the column `span` has them. */
export const SPANS = [QUARTER_MS, DAY_MS] as const

/** The age up to which quarters are kept. Days are kept forever. */
export const QUARTERS_KEPT_MS = 100 * DAY_MS

/** Rows of one project that begin with the same columns of the primary key. */
type BucketStretch = {
  /** Lists the projects that have expired rows. */
  listProjects: Statement<{ projectId: string }>
  erase: Statement<unknown>
}

const PACE: SweepPace = { first: 200, max: 2_000, batchMs: 4, rest: { times: 2 } }

const KINDS = ['all', 'provider', 'campaign', 'template', 'workflow'] as const

const STRETCHES: readonly BucketStretch[] = [
  ...KINDS.map((kind) => stretchOf('mail_counts', sql.raw(`kind = '${kind}' and `))),
  stretchOf('link_counts', sql``),
  stretchOf('event_counts', sql``),
]

/**
 * The first instant from which on all quarters exist, a UTC midnight. Earlier time is read from UTC
 * days only, even if some of its quarters still exist.
 */
export function quartersFrom(now: number): number {
  return Math.ceil((now - QUARTERS_KEPT_MS) / DAY_MS) * DAY_MS
}

export async function deleteExpiredQuarters(
  deps: Pick<Base, 'store' | 'now'>,
  signal?: AbortSignal,
): Promise<void> {
  const before = deps.now() - QUARTERS_KEPT_MS
  const rules = { pace: PACE, heavyFor: 'retention', signal, until: 'short' as const }
  for (const { listProjects, erase } of STRETCHES) {
    for (const { projectId } of await deps.store.scan.list(listProjects, { before })) {
      await sweep(deps, rules, (tx, limit) => tx.execute(erase, { projectId, before, limit }))
    }
  }
}

/** `first`: the condition on the columns between the project and the span. */
function stretchOf(table: string, first: SQL): BucketStretch {
  const isExpired = sql`${first}span = ${sql.raw(String(QUARTER_MS))}
    and starts_at < ${parameter('before')}`
  const rows = sql`${sql.raw(table)} where project_id = ${parameter('projectId')} and ${isExpired}`
  return {
    listProjects: statement(
      () => sql`select id as "projectId" from projects where exists (
        select 1 from ${sql.raw(table)} where project_id = projects.id and ${isExpired})`,
    ),
    erase: statement(
      () => sql`delete from ${rows} and (starts_at, stream, subject) in (
        select starts_at, stream, subject from ${rows} order by starts_at limit ${parameter('limit')})`,
    ),
  }
}
