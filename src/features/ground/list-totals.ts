/**
 * The totals of lists with cursors: how many items all pages have, on the first page. A page that is the
 * only one has its total already; otherwise the items are counted on scan threads, one stretch of rows in
 * each query, so that scans of other projects run in between.
 *
 * A count of more than one stretch is kept for five minutes, and callers who ask for it meanwhile share one
 * run, which goes on when they leave. A caller in the second half of this time gets the kept count and
 * begins the next one, so that a person who looks at a list often waits only once. A few counts of a
 * project run at once. Further counts wait, and end when their clients leave.
 */
import { MINUTE_MS, type Now } from '../../base/clock.ts'
import { createLru } from '../../base/lru.ts'
import { runShared } from '../../turns/owner.ts'
import { createTurns } from '../../turns/turns.ts'
import { type Listing, type PageEnd, withEnd } from './listing.ts'

export type ListTotals = {
  /** The number of rows that one query counts. */
  stretch: number
  /**
   * Counts what `query` names, with its project; the JSON of `query` identifies the count.
   * @throws AppError as `Turns.take`
   */
  find(query: object, count: () => Promise<RowCount>): Promise<number>
  /**
   * Runs another count, which is not kept, when it is the turn of the project.
   * @throws AppError as `Turns.take`
   */
  take<T>(count: () => Promise<T>): Promise<T>
}

/** `isLong`: the count took more than one stretch. */
export type RowCount = { total: number; isLong: boolean }

/** `total`: of all pages on the first one, 0 on later ones. */
export type CountedEnd = PageEnd & { total: number }

/** The rows that one query counts, in about 50 ms. */
const STRETCH = 50_000
const KEPT_MS = 5 * MINUTE_MS
const RENEWED_MS = KEPT_MS / 2
/** The most characters of all queries whose counts are kept. */
const MAX_KEPT_SIZE = 1_000_000
/** Bounds the counts that go on after their client has left. All counts share the scan threads. */
const TURNS = {
  atOnce: 200,
  atOncePerProject: 4,
  waitingPerProject: 50,
  waiting: 1_000,
  to: 'for a list to be counted',
  retryAfterSeconds: 5,
}

export function createListTotals({
  now,
  stretch = STRETCH,
}: {
  now: Now
  stretch?: number
}): ListTotals {
  const kept = createLru<{ at: number; total: number }>(MAX_KEPT_SIZE, {
    sizeOf: (_, key) => key.length,
  })
  const running = new Map<string, Promise<number>>()
  const renewed = new Set<string>()
  const turns = createTurns(TURNS)

  function keptFor(key: string, maxAge: number): number | undefined {
    const known = kept.get(key)
    const age = now() - (known?.at ?? 0)
    return age < 0 || age > maxAge ? undefined : known?.total
  }

  async function run(key: string, count: () => Promise<RowCount>): Promise<number> {
    const at = now()
    const { total, isLong } = await count()
    if (isLong) kept.set(key, { at, total })
    return total
  }

  function start(key: string, count: () => Promise<RowCount>): Promise<number> {
    const started = runShared(() => run(key, count)).finally(() => running.delete(key))
    running.set(key, started)
    return started
  }

  /**
   * Joins a running count of the same query without a place of its own. If none runs, waits for the
   * turn of the project.
   */
  async function join(
    key: string,
    { maxAge, count }: { maxAge: number; count: () => Promise<RowCount> },
  ): Promise<number> {
    const begun = running.get(key)
    if (begun !== undefined) return begun
    // While this caller waited, another one may have counted the same query.
    return turns.take(
      async () => keptFor(key, maxAge) ?? running.get(key) ?? (await start(key, count)),
    )
  }

  /**
   * Counts again in the background. A failure is not reported: the next caller counts for itself
   * once the kept count is too old, and gets the error.
   */
  function renew(key: string, count: () => Promise<RowCount>): void {
    if (renewed.has(key)) return
    renewed.add(key)
    join(key, { maxAge: RENEWED_MS, count })
      .catch(() => undefined)
      .finally(() => renewed.delete(key))
  }

  return {
    stretch,
    take: (count) => turns.take(count),
    async find(query, count) {
      const key = JSON.stringify(query)
      const known = keptFor(key, KEPT_MS)
      if (known === undefined) return join(key, { maxAge: KEPT_MS, count })
      if (keptFor(key, RENEWED_MS) === undefined) renew(key, count)
      return known
    },
  }
}

type CountedPage<Item> = {
  page: Listing<Item, PageEnd>
  /** The cursor of the request. */
  cursor: string | undefined
  /** The number of all items, if this page has all of them; otherwise undefined. */
  whole: number | undefined
  /** What is counted, as for `ListTotals.find`. */
  query: object
  count(): Promise<RowCount>
}

/** Adds the total to the end of a page. */
export async function withTotal<Item>(
  { listTotals }: { listTotals: ListTotals },
  { page, cursor, whole, query, count }: CountedPage<Item>,
): Promise<Listing<Item, CountedEnd>> {
  const total = cursor === undefined ? (whole ?? (await listTotals.find(query, count))) : 0
  return withEnd(page, (end) => ({ ...end, total }))
}

/** `end`: the place of the stretch's last row; undefined if no row follows. */
type CountedStretch<Place> = { count: number; end: Place | undefined }

/** Counts rows one stretch at a time. */
export async function countStretches<Place>(
  read: (after: Place | undefined) => Promise<CountedStretch<Place>>,
): Promise<RowCount> {
  let total = 0
  let after: Place | undefined
  for (let isLong = false; ; isLong = true) {
    const stretch: CountedStretch<Place> = await read(after)
    total += stretch.count
    if (stretch.end === undefined) return { total, isLong }
    after = stretch.end
  }
}

/** Adds counts up. The sum is long if a count is long, or if it is more than one stretch. */
export function addRowCounts(
  { listTotals }: { listTotals: Pick<ListTotals, 'stretch'> },
  counts: readonly RowCount[],
): RowCount {
  const total = counts.reduce((sum, count) => sum + count.total, 0)
  return { total, isLong: total > listTotals.stretch || counts.some(({ isLong }) => isLong) }
}
