/** What a follower is made of: rows, cursors, and handlers. */
import type { Store } from '../store/store.ts'
import type { Tx } from '../store/write/transaction.ts'

export type FollowedRows<Row> = {
  /** The number of the newest committed row; known without a read, and never too large. */
  last(): number
  /** The same, also of this transaction; 0 before the first row. */
  newest(tx: Tx): Promise<number>
  /** The rows behind a number, in their order. */
  listAfter(tx: Tx, place: { seq: number; limit: number }): Promise<Row[]>
}

export type Cursors = {
  /** The stored cursors by the names of their handlers. */
  load(): Promise<ReadonlyMap<string, number>>
  save(tx: Tx, cursors: readonly { name: string; seq: number }[]): Promise<void>
}

export type Handler<Row, Name extends string = string> = {
  /** The name of its cursor. One handler of a name runs at a time. */
  name: Name
  /**
   * Handles the rows; the rules of closures for `store.write` apply. A handler whose work would be too much for
   * one transaction calls `endAt` with the last row that it handles; the rows behind it come again. It handles
   * one at least.
   */
  handle(tx: Tx, rows: readonly Row[], endAt: (row: Row) => void): Promise<void>
  /**
   * Whether any row may matter, asked before a batch; if not, the handler passes over all that are committed.
   * What begins later to care for rows must care only for those that are added after it.
   */
  mayMatter?(read: Pick<Store['read'], 'find'>): Promise<boolean>
  /**
   * Where a new handler starts: with the oldest row (the default), or after the row that is the newest when its
   * cursor is first looked for, right after its start.
   */
  beginsAt?: 'oldest' | 'newest'
  /**
   * Returns how many times as long as a batch took its reader rests before the next one, while it is far behind
   * and nobody waits for it. If absent, it does not rest. Its batches are heavy writes then.
   */
  restTimes?(): number
}
