/**
 * Retentions: what is deleted once it is old, as rows of data. A new one is a row in the area that owns
 * the table; its index finds the oldest rows, which a test checks.
 *
 * Where age alone does not decide whether a row may go, the area has a job with a function instead.
 * If it may delete many rows, the function is a sweep (`sweep.ts`).
 */
import type { Now } from '../base/clock.ts'
import type { Config } from '../config/config.ts'
import type { Statement } from '../store/database.ts'
import { sql } from '../store/drizzle.ts'
import { parameter, statement } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { type SweepPace, sweep } from './sweep.ts'

/** A statement that deletes rows older than `before` (epoch ms): `limit` rows, or all if there are fewer. */
type Deletion = { statement: Statement<unknown>; index: string }

export type Retention = {
  /** The name of the retention's job; the database stores it. */
  name: string
  /** When the job runs: five fields, in UTC. */
  schedule: string
  /** How long a row is kept. */
  keptMs: number | ((days: Config['retention']) => number)
  deletions: readonly Deletion[]
  pace: SweepPace
}

/** Deletes the rows of a table whose instant `column` has come, the oldest first. `key`: its primary key. */
export function oldRows({
  table,
  key,
  column,
  index,
}: {
  table: string
  key: string
  column: string
  index: string
}): Deletion {
  const [from, keys, at] = [sql.raw(table), sql.raw(key), sql.raw(column)]
  return {
    index,
    statement: statement(
      () => sql`delete from ${from} where (${keys}) in (
        select ${keys} from ${from} where ${at} <= ${parameter('before')}
        order by ${at} limit ${parameter('limit')})`,
    ),
  }
}

/**
 * Deletes the rows that are older than a retention keeps, in short transactions. Returns the number of
 * rows. An aborted signal ends the work between two transactions.
 */
export async function deleteExpired(
  { store, config, now }: { store: Pick<Store, 'write'>; config: Config; now: Now },
  { keptMs, deletions, pace }: Retention,
  signal?: AbortSignal,
): Promise<number> {
  const kept = typeof keptMs === 'number' ? keptMs : keptMs(config.retention)
  const before = now() - kept
  const rules = { pace, heavyFor: 'retention', signal, until: 'short' as const }
  let deleted = 0
  for (const { statement: each } of deletions) {
    deleted += await sweep({ store }, rules, (tx, limit) => tx.execute(each, { before, limit }))
  }
  return deleted
}
