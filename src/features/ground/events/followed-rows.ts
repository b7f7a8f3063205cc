/** Rows that followers follow: they are only added, and their numbers rise in the order of commits. */
import type { Statement } from '../../../store/database.ts'
import { selectLastNumber, unseen } from '../../../store/dialect.ts'
import { asc, gt } from '../../../store/drizzle.ts'
import { type EventRow, events } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

export type FollowedTable = 'events' | 'attempts'

export type FollowedRows<Row> = {
  table: FollowedTable
  /** The parameters are `seq` and `limit`. */
  listAfter: Statement<Row>
}

const NEWEST: Readonly<Record<FollowedTable, Statement<{ seq: number }>>> = {
  events: statement<{ seq: number }>(() => selectLastNumber('events')),
  attempts: statement<{ seq: number }>(() => selectLastNumber('attempts')),
}

/** The events of all projects. */
export const EVENTS: FollowedRows<EventRow> = {
  table: 'events',
  listAfter: statement((db) =>
    db
      .select()
      .from(events)
      .where(gt(events.seq, parameter('seq')))
      .orderBy(asc(events.seq))
      .limit(unseen(parameter('limit'))),
  ),
}

/** The number of the newest row, also of this transaction; 0 before the first. */
export async function newestSeq(tx: Pick<Tx, 'find'>, table: FollowedTable): Promise<number> {
  return (await tx.find(NEWEST[table]))?.seq ?? 0
}
