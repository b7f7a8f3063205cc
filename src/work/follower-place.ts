/** How far handlers are, and what of that is stored. */
import type { Store } from '../store/store.ts'
import type { Tx } from '../store/write/transaction.ts'
import type { Cursors, FollowedRows, Handler } from './follower-handler.ts'

export type Place<Row> = {
  readonly handler: Handler<Row>
  /** All rows up to here are handled. -1: not known. */
  seq: number
  /** Whether the stored cursor says the same. */
  isSaved: boolean
}

/** Reads the stored cursors; a place that is further stays. A new handler that starts with the newest row gets its cursor. */
export async function loadPlaces<Row>(
  { store, rows, cursors }: { store: Store; rows: FollowedRows<Row>; cursors: Cursors },
  places: readonly Place<Row>[],
): Promise<void> {
  const stored = new Map(await cursors.load())
  const fresh = places.filter(
    ({ handler: { name, beginsAt } }) => beginsAt === 'newest' && !stored.has(name),
  )
  if (fresh.length > 0) {
    const newest = await store.write(async (tx) => {
      const seq = await rows.newest(tx)
      await savePlaces(cursors, tx, new Map(fresh.map((place) => [place, seq])))
      return seq
    })
    for (const { handler } of fresh) stored.set(handler.name, newest)
  }
  for (const place of places) {
    place.seq = Math.max(stored.get(place.handler.name) ?? 0, place.seq)
  }
}

/** Saves each place's cursor as the given number. */
export async function savePlaces<Row>(
  cursors: Cursors,
  tx: Tx,
  places: ReadonlyMap<Place<Row>, number>,
): Promise<void> {
  if (places.size === 0) return
  await cursors.save(
    tx,
    [...places].map(([{ handler }, seq]) => ({ name: handler.name, seq })),
  )
}
