/** Deletes quarters that are older than any range that a request may ask for, through the primary keys. */
import type { Statement } from '../../../../store/database.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { type Pace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { QUARTER_MS, QUARTERS_KEPT_MS } from '../buckets.ts'

/** The rows of a project that begin with the same columns of the primary key. */
type Stretch = {
  /** Projects with rows that have expired. */
  listProjects: Statement<{ projectId: string }>
  erase: Statement<unknown>
}

const PACE: Pace = { first: 200, max: 2_000, batchMs: 4, rest: { times: 2 } }
const KINDS = ['all', 'provider', 'campaign', 'template', 'workflow'] as const

const STRETCHES: readonly Stretch[] = [
  ...KINDS.map((kind) => stretchOf('mail_counts', sql.raw(`kind = '${kind}' and `))),
  stretchOf('link_counts', sql``),
  stretchOf('event_counts', sql``),
]

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

/** `first`: the term of the columns between the project and the span. */
function stretchOf(table: string, first: SQL): Stretch {
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
