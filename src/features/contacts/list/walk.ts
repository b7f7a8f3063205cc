/**
 * All contacts of a scope, for whatever has to see each of them: bulk work, exports, segments,
 * campaigns. By number, which is the order of their creation, a page at a time on the scan threads.
 */
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import { type NumberRange, walkNumberRanges } from './number-ranges.ts'
import {
  countAmong,
  countByNumber,
  countScanned,
  type StretchOfRange,
  selectAmong,
  selectByNumber,
  selectHits,
} from './queries.ts'
import { type ContactRow, type NumberedContact, toContact } from './row.ts'
import { type ContactScope, isAddressOnly, normalizedSearch } from './scope.ts'
import { findSource, type Source } from './search.ts'

export type { NumberedContact } from './row.ts'
export type { ContactScope } from './scope.ts'

type Deps = Pick<Base, 'store'>

const PAGE = 500

/** Of the first page: what the contacts are like shows how many the next one may have. */
const FIRST_PAGE = 50
/** A contact may have 64 KB of data, and whoever is given a page may keep it for long. */
const PAGE_CHARS = 1024 * 1024

const findShare = statement<{ isMost: number }>(
  () => sql`select contact_count > 0.8 * (select max(number) from contacts) as "isMost"
    from projects where id = ${parameter('projectId')}`,
)

/**
 * None twice, none missed; who comes, goes or changes during the walk may or may not be seen.
 * `size`: how many a page has at most, fewer where they have much data; `after`: goes on behind this
 * number.
 */
export async function* walkContacts(
  deps: Deps,
  scope: ContactScope,
  { size = PAGE, after = 0 }: { size?: number; after?: number } = {},
): AsyncGenerator<NumberedContact[]> {
  const source = await findSource(deps, scope, { isExact: true })
  let place = { after, limit: Math.min(size, FIRST_PAGE) }
  for (;;) {
    const rows = await findWalkPage(deps, { source, scope, ...place })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(toContact)
    if (rows.length < place.limit) return
    place = { after: last[0], limit: Math.max(1, Math.min(size, fittingOf(rows))) }
  }
}

/** How many such contacts make a page, four times as many as now at most. */
function fittingOf(rows: readonly ContactRow[]): number {
  const chars = rows.reduce((sum, [, , , , , data]) => sum + (data?.length ?? 0), 1)
  return Math.min(rows.length * 4, Math.floor((rows.length * PAGE_CHARS) / chars))
}

type Place = { source: Source; scope: ContactScope; after: number; limit: number }

async function findWalkPage(deps: Deps, { source, scope, ...place }: Place): Promise<ContactRow[]> {
  const range = { ...place, dir: 'asc' as const }
  if (source.kind === 'hits') return deps.store.scan.values(selectHits(source, scope, range))
  if ('candidates' in source) {
    const query = selectAmong(source.candidates, scope, { ...range, sort: 'createdAt' })
    return deps.store.scan.values(query)
  }
  return findByNumber(deps, scope, range)
}

/** A page by number; what is looked for in rows, is so one range at a time. */
export async function findByNumber(
  deps: Deps,
  scope: ContactScope,
  range: Omit<StretchOfRange, 'after'> & { after?: number | undefined },
): Promise<ContactRow[]> {
  if (scope.condition === undefined && normalizedSearch(scope) === '') {
    return deps.store.scan.values(selectByNumber(scope, range))
  }
  const rows: ContactRow[] = []
  const look = async (numberRange: NumberRange) => {
    const limit = range.limit - rows.length
    rows.push(
      ...(await deps.store.scan.values<ContactRow>(
        selectByNumber(scope, { dir: range.dir, limit, numberRange }),
      )),
    )
  }
  for await (const _ of walkNumberRanges(deps, { scope, range }, look)) {
    if (rows.length === range.limit) break
  }
  return rows
}

/** How many there are; with a condition, as of the while that counting takes. */
export async function countContacts(deps: Deps, scope: ContactScope): Promise<number> {
  return countFrom(deps, scope, await findSource(deps, scope, { isExact: true }))
}

/** As `countContacts`, of what `source` looks at. */
export async function countFrom(deps: Deps, scope: ContactScope, source: Source): Promise<number> {
  const isOfRows = scope.condition !== undefined || source.kind === 'scan'
  if (isOfRows && !('candidates' in source) && !isAddressOnly(scope)) {
    return countStretches(deps, scope)
  }
  const [[count] = []] = await deps.store.scan.values<[number]>(countQuery(source, scope))
  return count ?? 0
}

async function countStretches(deps: Deps, scope: ContactScope): Promise<number> {
  const share = await deps.store.read.find(findShare, { projectId: scope.projectId })
  const look = (numberRange: NumberRange) =>
    countStretch(deps, scope, { numberRange, isMost: share?.isMost === 1 })
  let total = 0
  for await (const count of walkNumberRanges(deps, { scope, range: {} }, look)) total += count
  return total
}

/** `isMost`: as `countByNumber`. */
export async function countStretch(
  { store }: Deps,
  scope: ContactScope,
  { numberRange, isMost = false }: { numberRange: NumberRange; isMost?: boolean },
): Promise<number> {
  const query = countByNumber(scope, { isMost, numberRange })
  const [[count] = []] = await store.scan.values<[number]>(query)
  return count ?? 0
}

/** For whom no row has to be looked at, or few. */
export function countQuery(source: Source, scope: ContactScope): SQL {
  if ('candidates' in source) return countAmong(source.candidates, scope)
  if (source.kind === 'scan') return countScanned(scope)
  return sql`select ${counterOf(scope)} from projects where id = ${scope.projectId}`
}

function counterOf({ subscribed }: ContactScope): SQL {
  if (subscribed === undefined) return sql`contact_count`
  return subscribed ? sql`subscribed_count` : sql`contact_count - subscribed_count`
}
