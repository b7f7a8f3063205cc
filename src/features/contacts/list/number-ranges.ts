/**
 * A project's contacts in stretches of their numbers, for what has to look at many of them: each
 * query takes a range, so that however much a condition asks of a contact, other projects' queries
 * have their turn in between, and a program that stops need not wait for the last.
 */
import { indexedBy } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Base } from '../../base.ts'
import { type ContactScope, halvesOf } from './scope.ts'

/** The numbers above one and up to the other. */
export type NumberRange = { above: number; upTo: number }

export type RangeWalk = {
  /** Ascending if absent. */
  dir?: 'asc' | 'desc' | undefined
  /** Behind this number; from the first if absent. */
  after?: number | undefined
  /** How many contacts a range may have. */
  most?: number
  /** Milliseconds that only rise. */
  clock?: () => number
}

type Deps = Pick<Base, 'store'>
type Look<T> = (numberRange: NumberRange) => Promise<T>

/** Contacts: of an ordinary condition 10 ms, and half a second of one with a hundred events. */
const FIRST = 10_000
const LEAST = 2_000
const MOST = 1_000_000
/** Less is too little for a query, more too long for those who wait. */
const QUICK_MS = 60
const SLOW_MS = 240
/** Of that, so little that a shortlist or an index had the answer. */
const INSTANT_MS = 20

/** What `look` makes of each range in turn; what the caller does meanwhile takes no part in it. */
export async function* walkNumberRanges<T>(
  deps: Deps,
  { scope, range }: { scope: Pick<ContactScope, 'projectId' | 'subscribed'>; range: RangeWalk },
  look: Look<T>,
): AsyncGenerator<T> {
  const { dir = 'asc', most = MOST, clock = () => performance.now() } = range
  let size = Math.min(FIRST, most)
  let from = range.after ?? (dir === 'asc' ? 0 : Number.MAX_SAFE_INTEGER)
  for (;;) {
    const end = await findEnd(deps, scope, { dir, from, size })
    const began = clock()
    const found = await look(toStretch(dir, from, end))
    const tookMs = clock() - began
    yield found
    if (end === undefined) return
    if (tookMs < INSTANT_MS) size = Math.min(most, size * 10)
    else if (tookMs < QUICK_MS) size = Math.min(most, size * 3)
    else if (tookMs > SLOW_MS) size = Math.max(LEAST, Math.floor(size / 3))
    from = end
  }
}

/** ` and …`: no further than the range. */
export function within(numberRange: NumberRange | undefined): SQL {
  if (numberRange === undefined) return sql``
  return sql` and contacts.number > ${numberRange.above} and contacts.number <= ${numberRange.upTo}`
}

function toStretch(dir: 'asc' | 'desc', from: number, end: number | undefined): NumberRange {
  if (dir === 'asc') return { above: from, upTo: end ?? Number.MAX_SAFE_INTEGER }
  return { above: (end ?? 1) - 1, upTo: from - 1 }
}

type Begin = { dir: 'asc' | 'desc'; from: number; size: number }

/** The number of the range's last contact; undefined when there is less than a range left. */
async function findEnd(
  { store }: Deps,
  scope: Pick<ContactScope, 'projectId' | 'subscribed'>,
  begin: Begin,
): Promise<number | undefined> {
  const [row] = await store.scan.values<[number]>(selectEnd(scope, begin))
  return row?.[0]
}

export function selectEnd(
  scope: Pick<ContactScope, 'projectId' | 'subscribed'>,
  { dir, from, size }: Begin,
): SQL {
  const than = dir === 'asc' ? sql`>` : sql`<`
  const halves = halvesOf(scope).map(
    (subscribed) => sql`select number from contacts ${indexedBy('contacts_order')}
      where project_id = ${scope.projectId} and subscribed = ${subscribed}
        and number ${than} ${from}`,
  )
  return sql`${sql.join(halves, sql` union all `)}
    order by 1 ${dir === 'asc' ? sql`asc` : sql`desc`} limit 1 offset ${size - 1}`
}
