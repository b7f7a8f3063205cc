/** The tables that followers follow: rows are only added to them, and their numbers rise in the order of commits. */
import type { Statement } from '../../../store/database.ts'
import { selectLastNumber } from '../../../store/dialect.ts'
import { statement } from '../../../store/statement.ts'
import type { Store } from '../../../store/store.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { FollowedRows } from '../../../work/follower-handlers.ts'

type FollowedTable = 'events' | 'attempts'

const NEWEST: Readonly<Record<FollowedTable, Statement<{ seq: number }>>> = {
  events: statement<{ seq: number }>(() => selectLastNumber('events')),
  attempts: statement<{ seq: number }>(() => selectLastNumber('attempts')),
}

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

/** The number of the newest row, rows of this transaction included; 0 before the first row. */
export async function newestSeq(tx: Pick<Tx, 'find'>, table: FollowedTable): Promise<number> {
  return (await tx.find(NEWEST[table]))?.seq ?? 0
}
