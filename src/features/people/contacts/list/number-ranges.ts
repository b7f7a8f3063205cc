/**
 * Divides a project's contacts into ranges of their numbers, one query per range. Even if a
 * condition is expensive, queries of other projects run in between, and a stopping program waits for
 * one range only.
 */
import { indexedBy } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import type { Base } from '../../../ground/base.ts'
import { type ContactScope, subscribedValues } from './scope.ts'

/** The numbers n with `above` < n <= `upTo`. */
export type NumberRange = { above: number; upTo: number }

export type RangeWalk = {
  /** The direction of the walk; ascending if absent. */
  dir?: 'asc' | 'desc' | undefined
  /** Starts after this number; with the first contact if absent. */
  after?: number | undefined
  /** Maximum contacts of a range. */
  maxSize?: number
  /** Monotonic, in milliseconds. */
  clock?: () => number
}

type Deps = Pick<Base, 'store'>
type Visit<T> = (numberRange: NumberRange) => Promise<T>

/** Contacts of the first range: 10 ms with an ordinary condition, 0.5 s with a hundred events. */
const FIRST_SIZE = 10_000
const MIN_SIZE = 2_000
const MAX_SIZE = 1_000_000
/** If a query takes less than this, the next range is three times as large. */
const QUICK_QUERY_MS = 60
/** If a query takes more than this, the next range is a third as large. */
const SLOW_QUERY_MS = 240
/**
 * A query that takes less than this used an index or a short list of candidates: the next range is
 * ten times as large.
 */
const INSTANT_QUERY_MS = 20

/**
 * Yields the result of `visit` for each range. The time that the caller spends on a result does not
 * count for the size of the next range.
 */
export async function* walkNumberRanges<T>(
  deps: Deps,
  { scope, range }: { scope: Pick<ContactScope, 'projectId' | 'subscribed'>; range: RangeWalk },
  visit: Visit<T>,
): AsyncGenerator<T> {
  const { dir = 'asc', maxSize = MAX_SIZE, clock = () => performance.now() } = range
  let size = Math.min(FIRST_SIZE, maxSize)
  let from = range.after ?? (dir === 'asc' ? 0 : Number.MAX_SAFE_INTEGER)
  for (;;) {
    const end = await findEnd(deps, scope, { dir, from, size })
    const began = clock()
    const found = await visit(toNumberRange(dir, from, end))
    const tookMs = clock() - began
    yield found
    if (end === undefined) return
    if (tookMs < INSTANT_QUERY_MS) size = Math.min(maxSize, size * 10)
    else if (tookMs < QUICK_QUERY_MS) size = Math.min(maxSize, size * 3)
    else if (tookMs > SLOW_QUERY_MS) size = Math.max(MIN_SIZE, Math.floor(size / 3))
    from = end
  }
}

/** Returns the SQL ` and …` that limits a query to the range; empty without a range. */
export function withinNumbers(numberRange: NumberRange | undefined): SQL {
  if (numberRange === undefined) return sql``
  return sql` and contacts.number > ${numberRange.above} and contacts.number <= ${numberRange.upTo}`
}

function toNumberRange(dir: 'asc' | 'desc', from: number, end: number | undefined): NumberRange {
  if (dir === 'asc') return { above: from, upTo: end ?? Number.MAX_SAFE_INTEGER }
  return { above: (end ?? 1) - 1, upTo: from - 1 }
}

type RangeStart = { dir: 'asc' | 'desc'; from: number; size: number }

/** Returns the number of the last contact of the range; undefined for the last range. */
async function findEnd(
  { store }: Deps,
  scope: Pick<ContactScope, 'projectId' | 'subscribed'>,
  start: RangeStart,
): Promise<number | undefined> {
  const [row] = await store.scan.values<[number]>(selectEnd(scope, start))
  return row?.[0]
}

export function selectEnd(
  scope: Pick<ContactScope, 'projectId' | 'subscribed'>,
  { dir, from, size }: RangeStart,
): SQL {
  const than = dir === 'asc' ? sql`>` : sql`<`
  const halves = subscribedValues(scope).map(
    (subscribed) => sql`select number from contacts ${indexedBy('contacts_order')}
      where project_id = ${scope.projectId} and subscribed = ${subscribed}
        and number ${than} ${from}`,
  )
  return sql`${sql.join(halves, sql` union all `)}
    order by 1 ${dir === 'asc' ? sql`asc` : sql`desc`} limit 1 offset ${size - 1}`
}
