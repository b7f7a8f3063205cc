/** The handlers of a reader: who gets the next rows, who passes over them, and who leaves. */
import type { Store } from '../store/store.ts'
import type { FollowedRows } from './follower-handler.ts'
import type { Place } from './follower-place.ts'

type PlacesOptions<Row> = {
  store: Pick<Store, 'read'>
  rows: Pick<FollowedRows<Row>, 'last'>
  /** The handlers at the start, one at least. */
  places: readonly Place<Row>[]
  /** Told of a handler that leaves. It failed in a batch of so many rows, or is behind the others (0). */
  leave?: ((place: Place<Row>, failed: number) => void) | undefined
}

export type Places<Row> = {
  all(): readonly Place<Row>[]
  unsaved(): readonly Place<Row>[]
  /** Everybody has handled the rows up to here. */
  lowest(): number
  /** Where the last batch ended; infinite before the first. Who joins must have handled the rows up to here. */
  head(): number
  /** Also if the last number went back: the last rows' numbers were taken away by hand. */
  isBehind(): boolean
  /**
   * Returns who needs the next rows; none if nobody does. With `mayPass`, those for whom no row may matter pass
   * over all that are committed (`passed`: over so many at most). Those who are behind the rest leave.
   */
  next(mayPass: boolean): Promise<{ readers: readonly Place<Row>[]; passed: number }>
  /** After a batch: each reader's place, and whether the cursors are saved. Returns whether anybody moved. */
  moved(ends: ReadonlyMap<Place<Row>, number>, isSaved: boolean): boolean
  /** One who was there at first comes back, to its place in the order. */
  add(place: Place<Row>): void
  /** Returns whether it has left: the last one stays. */
  letGo(place: Place<Row>, failed: number): boolean
}

export function createPlaces<Row>({
  store,
  rows,
  leave,
  ...options
}: PlacesOptions<Row>): Places<Row> {
  let places = options.places
  let head = Number.POSITIVE_INFINITY

  async function next(mayPass: boolean) {
    const committed = rows.last()
    const asked = mayPass ? places.filter(({ seq }) => seq < committed) : []
    // The questions are asked in this turn: they see all that is committed, and nothing more.
    const answers = await Promise.all(asked.map(({ handler }) => handler.mayMatter?.(store.read)))
    const passing = asked.filter((_, index) => answers[index] === false)
    const passed = Math.max(0, committed - lowest(passing))
    for (const place of passing) move(place, committed)
    const readers = withoutLate(places.filter((place) => !passing.includes(place)))
    if (readers.some(({ seq }) => seq !== committed)) return { readers, passed }
    head = committed
    return { readers: [], passed }
  }

  function withoutLate(readers: readonly Place<Row>[]): readonly Place<Row>[] {
    const least = Math.min(head, Math.max(...readers.map(({ seq }) => seq)))
    for (const place of readers) if (place.seq < least) letGo(place, 0)
    return readers.filter(({ seq }) => seq >= least)
  }

  function letGo(place: Place<Row>, failed: number): boolean {
    if (leave === undefined || places.length === 1) return false
    places = places.filter((each) => each !== place)
    leave(place, failed)
    return true
  }

  return {
    all: () => places,
    unsaved: () => places.filter(({ isSaved }) => !isSaved),
    lowest: () => lowest(places),
    head: () => head,
    isBehind: () => places.some(({ seq }) => seq !== rows.last()),
    next,
    moved(ends, isSaved) {
      const hasMoved = [...ends].some(([place, seq]) => seq !== place.seq)
      for (const [place, seq] of ends) move(place, seq)
      if (isSaved) for (const place of places) place.isSaved = true
      head = Math.min(...ends.values())
      return hasMoved
    },
    add(added) {
      places = options.places.filter((each) => each === added || places.includes(each))
    },
    letGo,
  }
}

function move<Row>(place: Place<Row>, seq: number): void {
  if (seq !== place.seq) place.isSaved = false
  place.seq = seq
}

/** Infinite without any. */
function lowest<Row>(places: readonly Place<Row>[]): number {
  return Math.min(...places.map(({ seq }) => seq))
}
