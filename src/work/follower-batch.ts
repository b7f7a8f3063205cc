/** One transaction of a reader: the next rows, what its handlers write, and their cursors. */
import type { Tx } from '../store/write/transaction.ts'
import type { Cursors, FollowedRows, Handler } from './follower-handler.ts'
import { type Place, savePlaces } from './follower-place.ts'

type BatchOptions<Row> = {
  rows: FollowedRows<Row>
  cursors: Cursors
  clock: () => number
  /** All who read together; one at least. */
  readers: readonly Place<Row>[]
  /** Those whose cursors are older than their places: they are saved with the cursors of the readers. */
  unsaved: readonly Place<Row>[]
  /** The number behind which the rows begin. A reader that is further gets only the rows behind its own. */
  from: number
  limit: number
  /** Told whose turn it is, and when it is over. */
  onTurn: (place?: Place<Row>) => void
}

export type Batch<Row> = {
  /** The new place of each reader. */
  ends: ReadonlyMap<Place<Row>, number>
  isSaved: boolean
  rows: number
  /** These were all rows that were committed, and everybody handled them. */
  isAll: boolean
  startedAt: number
  /** The time from the first query to the last. */
  tookMs: number
}

/** Passes the next rows to the readers. */
export async function handleBatch<Row extends { seq: number }>(
  tx: Tx,
  { rows, cursors, clock, readers, unsaved, from, limit, onTurn }: BatchOptions<Row>,
): Promise<Batch<Row>> {
  const startedAt = clock()
  const furthest = readers.reduce((most, { seq }) => Math.max(most, seq), from)
  let committed = rows.last()
  // A number that went back is one that was taken away by hand, or one that the store does not know yet.
  if (committed < furthest) committed = await rows.newest(tx)
  const batch = await rows.listAfter(tx, { seq: from, limit })
  const isLast = batch.length < limit
  const last = batch.at(-1)?.seq ?? committed
  // Rows that are gone, or that the list leaves out, are behind the last one.
  const end = isLast ? Math.max(last, committed) : last
  const ends = new Map<Place<Row>, number>()
  for (const place of readers) {
    const own = place.seq > from ? batch.filter(({ seq }) => seq > place.seq) : batch
    onTurn(place)
    const handledTo = await handOver(tx, place.handler, own)
    onTurn()
    ends.set(place, handledTo ?? (isLast ? end : Math.max(end, place.seq)))
  }
  const isSaved = tx.hasWritten()
  if (isSaved) {
    const old = unsaved.map((place) => [place, place.seq] as const)
    const moved = [...ends].filter(([place, seq]) => seq !== place.seq)
    await savePlaces(cursors, tx, new Map([...old, ...moved]))
  }
  const isAll = isLast && [...ends.values()].every((seq) => seq === end)
  return { ends, isSaved, rows: batch.length, isAll, startedAt, tookMs: clock() - startedAt }
}

/** Returns the last row's number that was handled; undefined if all were. */
async function handOver<Row extends { seq: number }>(
  tx: Tx,
  handler: Handler<Row>,
  rows: readonly Row[],
): Promise<number | undefined> {
  let end: number | undefined
  if (rows.length > 0) {
    await handler.handle(tx, rows, ({ seq }) => {
      end = seq === rows.at(-1)?.seq ? undefined : seq
    })
  }
  return end
}
