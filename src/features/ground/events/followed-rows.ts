/**
 * The tables that followers follow, and the stored cursors of their handlers. Rows are only added to the tables, and
 * their numbers rise in the order of commits. All rows up to the number of a cursor are handled.
 */
import type { Statement } from '../../../store/database.ts'
import { eachOf, jsonItem, selectLastNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { eventFollowers } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Store } from '../../../store/store.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Cursors, FollowedRows } from '../../../work/follower-handlers.ts'
import type { Base } from '../base.ts'

type FollowedTable = 'events' | 'attempts'

const NEWEST: Readonly<Record<FollowedTable, Statement<{ seq: number }>>> = {
  events: statement<{ seq: number }>(() => selectLastNumber('events')),
  attempts: statement<{ seq: number }>(() => selectLastNumber('attempts')),
}

const listCursors = statement((db) =>
  db.select({ name: eventFollowers.name, seq: eventFollowers.seq }).from(eventFollowers),
)

/**
 * Saves cursors: `cursors` is a list of [name, number]. Without `where true`, SQLite would read `on
 * conflict` as the `on` of a join.
 */
const saveCursors = statement(
  () => sql`insert into event_followers (name, seq, updated_at)
    select ${jsonItem(sql`row.value`, 0)}, ${jsonItem(sql`row.value`, 1)}, ${parameter('at')}
    from ${eachOf(parameter('cursors'))} as row where true
    on conflict (name) do update set seq = excluded.seq, updated_at = excluded.updated_at`,
)

/** `listAfter`: the parameters are `seq` and `limit`. */
export function followedRows<Row>(
  store: Pick<Store, 'lastNumber'>,
  table: FollowedTable,
  listAfter: Statement<Row>,
): FollowedRows<Row> {
  return {
    last: () => store.lastNumber(table),
    newest: (tx) => newestSeq(tx, table),
    listAfter: (tx, place) => tx.list(listAfter, place),
  }
}

/**
 * Returns the number of the newest row, rows of this transaction included; 0 before the first row.
 */
export async function newestSeq(tx: Pick<Tx, 'find'>, table: FollowedTable): Promise<number> {
  return (await tx.find(NEWEST[table]))?.seq ?? 0
}

export function createCursors({ store, now }: Pick<Base, 'store' | 'now'>): Cursors {
  return {
    async load() {
      const rows = await store.read.list(listCursors)
      return new Map(rows.map(({ name, seq }) => [name, seq]))
    },
    async save(tx, cursors) {
      const pairs = cursors.map(({ name, seq }) => [name, seq])
      await tx.execute(saveCursors, { cursors: JSON.stringify(pairs), at: now() })
    },
  }
}
