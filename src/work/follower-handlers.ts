/**
 * The handlers of a follower: what they are, how far each is and what of that is stored, and how a reader passes them a
 * batch. Among the handlers of one reader, this says who gets the next rows, who passes over them, and who leaves.
 */
import type { Statement } from '../store/database.ts'
import type { Store } from '../store/store.ts'
import type { Tx } from '../store/write/transaction.ts'

type PlacesOptions<Row> = {
  store: Pick<Store, 'read'>
  rows: Pick<FollowedRows<Row>, 'last'>
  /** The handlers at the start, at least one, each with its place. */
  places: readonly HandlerPlace<Row>[]
  /**
   * Called for a handler that leaves. `failed`: the number of rows of the batch in which it failed; 0 if it
   * is behind the others instead.
   */
  leave?: ((place: HandlerPlace<Row>, failed: number) => void) | undefined
}

type Places<Row> = {
  all(): readonly HandlerPlace<Row>[]
  unsaved(): readonly HandlerPlace<Row>[]
  /** The number up to which all handlers have handled the rows. */
  lowest(): number
  /**
   * Where the last batch ended; infinite before the first. A handler that joins must have handled the rows
   * up to here.
   */
  head(): number
  /**
   * Whether a handler has not handled the rows up to the last number. Also true if the last number went
   * back, because somebody deleted rows by hand.
   */
  isBehind(): boolean
  /**
   * Returns the handlers that need the next rows; none if nobody does. With `mayPass`, handlers for whom no
   * row may matter pass over all committed rows (`passed`: over so many at most). Handlers that are behind
   * the others leave.
   */
  next(mayPass: boolean): Promise<{ readers: readonly HandlerPlace<Row>[]; passed: number }>
  /**
   * Call this after a batch. Returns whether a handler moved. A handler that took fewer rows of a full
   * batch than others is behind.
   */
  moved(batch: Pick<FollowerBatch<Row>, 'ends' | 'isSaved' | 'isFull'>): boolean
  /** Takes back a handler that was there at first, at its place in the order. */
  add(place: HandlerPlace<Row>): void
  /** Lets a handler leave. Returns whether it has left: the last one stays. */
  letGo(place: HandlerPlace<Row>, failed: number): boolean
}

export type FollowedRow = { seq: number }

export type FollowedRows<Row> = {
  /** The number of the newest committed row; known without a read, and never too large. */
  last(): number
  /** The number of the newest row, rows of this transaction included; 0 before the first row. */
  newest(tx: Tx): Promise<number>
  /** The rows after a number, in their order. */
  listAfter(tx: Tx, place: { seq: number; limit: number }): Promise<Row[]>
}

export type Cursors = {
  /** The stored cursors by the names of their handlers. */
  load(): Promise<ReadonlyMap<string, number>>
  save(tx: Tx, cursors: readonly { name: string; seq: number }[]): Promise<void>
}

export type FollowerHandler<Row, Name extends string = string> = {
  /** The name of the handler's cursor. No two handlers with one name run at a time. */
  name: Name
  /** The names of the rows that may matter; the handler gets only these. All rows if absent. */
  names?: Row extends { name: string } ? ReadonlySet<string> : undefined
  /**
   * Handles the rows; the rules of closures for `store.write` apply. A handler whose work would be too much
   * for one transaction calls `endAt` with the last row that it handles, the first row at least; the rows
   * after that row come again.
   */
  handle(tx: Tx, rows: readonly Row[], endAt: (row: Row) => void): Promise<void>
  /**
   * Whether any row may matter, asked before a batch (`whileAny`); if not, the handler passes over all that are
   * committed. A subscriber that is added later must care only for rows that are added after it.
   */
  mayMatter?(read: Pick<Store['read'], 'find'>): Promise<boolean>
  /**
   * Where a new handler starts: with the oldest row (the default), or after the row that is the newest when its
   * cursor is first looked for, right after its start.
   */
  beginsAt?: 'oldest' | 'newest'
  /**
   * Returns how many times as long as a batch took its reader rests before the next batch, while the reader
   * is far behind and nobody waits for it. If absent, the reader does not rest. The batches of a reader
   * that may rest are heavy writes.
   */
  restTimes?(): number
}

export type HandlerPlace<Row> = {
  readonly handler: FollowerHandler<Row>
  /** The handler has handled all rows up to this number. -1: not known. */
  seq: number
  /** Whether the stored cursor equals `seq`. */
  isSaved: boolean
}

type BatchOptions<Row> = {
  rows: FollowedRows<Row>
  cursors: Cursors
  clock: () => number
  /** The handlers that read together; one at least. */
  readers: readonly HandlerPlace<Row>[]
  /** Handlers with a cursor older than their place: these cursors are saved with those of the readers. */
  unsaved: readonly HandlerPlace<Row>[]
  /**
   * The number after which the rows begin. A handler whose own number is higher gets only the rows after
   * that.
   */
  from: number
  limit: number
  /** Called with the handler whose turn begins, and without one when the turn is over. */
  onTurn: (place?: HandlerPlace<Row>) => void
}

type FollowerBatch<Row> = {
  /** The new place of each reader. */
  ends: ReadonlyMap<HandlerPlace<Row>, number>
  isSaved: boolean
  rows: number
  /** Whether the batch had as many rows as it may have, so that more may follow. */
  isFull: boolean
  /** Whether the batch had all committed rows, and all handlers handled them. */
  isAll: boolean
  startedAt: number
  /** The time from the first query to the last. */
  tookMs: number
}

/** Makes the `mayMatter` of a handler that wants rows only while a query finds somebody who wants them. */
export function whileAny(
  wanting: Statement<unknown>,
): NonNullable<FollowerHandler<never>['mayMatter']> {
  return async (read) => (await read.find(wanting)) !== undefined
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
    // All handlers are asked in this turn of the event loop: their answers are about what is committed now,
    // and nothing more.
    const answers = await Promise.all(asked.map(({ handler }) => handler.mayMatter?.(store.read)))
    const passing = asked.filter((_, index) => answers[index] === false)
    const passed = Math.max(0, committed - lowest(passing))
    for (const place of passing) move(place, committed)
    const readers = withoutLate(places.filter((place) => !passing.includes(place)))
    if (readers.some(({ seq }) => seq !== committed)) return { readers, passed }
    head = committed
    return { readers: [], passed }
  }

  function withoutLate(readers: readonly HandlerPlace<Row>[]): readonly HandlerPlace<Row>[] {
    const least = Math.min(head, Math.max(...readers.map(({ seq }) => seq)))
    for (const place of readers) if (place.seq < least) letGo(place, 0)
    return readers.filter(({ seq }) => seq >= least)
  }

  function letGo(place: HandlerPlace<Row>, failed: number): boolean {
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
    moved({ ends, isSaved, isFull }) {
      const hasMoved = [...ends].some(([place, seq]) => seq !== place.seq)
      for (const [place, seq] of ends) move(place, seq)
      if (isSaved) for (const place of places) place.isSaved = true
      head = isFull ? Math.max(...ends.values()) : Math.min(...ends.values())
      return hasMoved
    },
    add(added) {
      places = options.places.filter((each) => each === added || places.includes(each))
    },
    letGo,
  }
}

/** Reads the stored cursors; a place that is further stays. A new handler that starts with the newest row gets its cursor. */
export async function loadPlaces<Row>(
  { store, rows, cursors }: { store: Store; rows: FollowedRows<Row>; cursors: Cursors },
  places: readonly HandlerPlace<Row>[],
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
  places: ReadonlyMap<HandlerPlace<Row>, number>,
): Promise<void> {
  if (places.size === 0) return
  await cursors.save(
    tx,
    [...places].map(([{ handler }, seq]) => ({ name: handler.name, seq })),
  )
}

/** Passes the next rows to the readers. */
export async function handleBatch<Row extends FollowedRow>(
  tx: Tx,
  { rows, cursors, clock, readers, unsaved, from, limit, onTurn }: BatchOptions<Row>,
): Promise<FollowerBatch<Row>> {
  const startedAt = clock()
  const furthest = readers.reduce((most, { seq }) => Math.max(most, seq), from)
  let committed = rows.last()
  // `committed` is too low if rows were deleted by hand, or if the store does not know the newest rows yet.
  if (committed < furthest) committed = await rows.newest(tx)
  const batch = await rows.listAfter(tx, { seq: from, limit })
  const isLast = batch.length < limit
  const last = batch.at(-1)?.seq ?? committed
  // In the last batch the end is the last committed number: rows after the batch were deleted, or the list
  // leaves them out.
  const end = isLast ? Math.max(last, committed) : last
  const ends = new Map<HandlerPlace<Row>, number>()
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
  const result = { ends, isSaved, rows: batch.length, isFull: !isLast, isAll, startedAt }
  return { ...result, tookMs: clock() - startedAt }
}

function move<Row>(place: HandlerPlace<Row>, seq: number): void {
  if (seq !== place.seq) place.isSaved = false
  place.seq = seq
}

/** The lowest number of the places; infinite without places. */
function lowest<Row>(places: readonly HandlerPlace<Row>[]): number {
  return Math.min(...places.map(({ seq }) => seq))
}

/** Returns the number of the last handled row; undefined if all were handled. */
async function handOver<Row extends FollowedRow>(
  tx: Tx,
  handler: FollowerHandler<Row>,
  rows: readonly Row[],
): Promise<number | undefined> {
  const wanted = listNamed(rows, handler.names)
  let end: number | undefined
  if (wanted.length > 0) {
    await handler.handle(tx, wanted, ({ seq }) => {
      end = seq === wanted.at(-1)?.seq ? undefined : seq
    })
  }
  return end
}

/** Returns the rows of these names; all rows if `names` is absent. */
function listNamed<Row>(rows: readonly Row[], names?: ReadonlySet<string>): readonly Row[] {
  return names === undefined ? rows : rows.filter((row) => names.has(Object(row).name))
}
