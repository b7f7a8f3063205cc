/** One transaction of a follower: the next rows, what its handler writes, and the cursor. */
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { type FollowedRows, newestSeq } from './followed-rows.ts'
import { saveCursor } from './follower-cursor.ts'
import type { FollowerName } from './followers.ts'

export type Followed<Row extends { seq: number }> = {
  rows: FollowedRows<Row>
  /**
   * The name of its cursor. A new name starts from the beginning. One follower of a name runs at a
   * time.
   */
  name: FollowerName
  /**
   * Handles the rows; the rules of closures for `store.write` apply. A handler whose work would be too
   * much for one transaction calls `endAt` with the last row that it handles; the rows behind it come
   * again. It handles one at least.
   */
  handle(tx: Tx, rows: Row[], endAt: (row: Row) => void): Promise<void>
}

type Batch = {
  /** The new cursor. */
  seq: number
  isSaved: boolean
  rows: number
  /** These were all rows that were committed. */
  isAll: boolean
  startedAt: number
  /** The time from the first query to the last. */
  tookMs: number
}

/** `from`: the cursor. */
type BatchOptions<Row extends { seq: number }> = Followed<Row> & {
  from: number
  limit: number
  clock: () => number
}

/** Handles the next rows. */
export async function handleBatch<Row extends { seq: number }>(
  { store, now }: Pick<Base, 'store' | 'now'>,
  tx: Tx,
  { rows, name, from, limit, clock, handle }: BatchOptions<Row>,
): Promise<Batch> {
  const startedAt = clock()
  let committed = store.lastNumber(rows.table)
  // A number that went back is one that was taken away by hand, or one that the store does not know yet.
  if (committed < from) committed = await newestSeq(tx, rows.table)
  const batch = await tx.list(rows.listAfter, { seq: from, limit })
  let seq = batch.at(-1)?.seq ?? committed
  const isAll = batch.length < limit
  // Rows that are gone, or that the list leaves out, are behind the last one.
  if (isAll) seq = Math.max(seq, committed)
  const end = seq
  const endAt = (row: Row) => {
    if (row.seq !== batch.at(-1)?.seq) seq = row.seq
  }
  if (batch.length > 0) await handle(tx, batch, endAt)
  const isSaved = tx.hasWritten()
  if (isSaved) await saveCursor(tx, { name, seq, at: now() })
  const tookMs = clock() - startedAt
  return { seq, isSaved, rows: batch.length, isAll: isAll && seq === end, startedAt, tookMs }
}
