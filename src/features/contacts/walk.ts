/**
 * All contacts of a scope, for whatever has to see each of them: bulk work, exports, segments,
 * campaigns. By number, which is the order of their creation, a page at a time on the scan threads.
 */
import { type SQL, sql } from '../../store/drizzle.ts'
import type { Core } from '../core.ts'
import { type ContactRow, type NumberedContact, readContact } from './row.ts'
import { type ContactScope, isAddressOnly, matchesScope } from './scope.ts'
import { findSource, type Source } from './search.ts'
import { countAmong, countByNumber, countScanned, selectAmong, selectByNumber } from './select.ts'

export type { NumberedContact } from './row.ts'
export type { ContactScope } from './scope.ts'

type Deps = Pick<Core, 'store'>

const PAGE = 500

/** Of the first page: what the contacts are like shows how many the next one may have. */
const FIRST_PAGE = 50
/** A contact may have 64 KB of data, and whoever is given a page may keep it for long. */
const PAGE_CHARS = 1024 * 1024

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
    const { page, fitting } = await readPage(deps, selectWalkPage(source, scope, place))
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    if (page.length < place.limit) return
    place = { after: last.number, limit: Math.max(1, Math.min(size, fitting)) }
  }
}

/** `fitting`: how many such contacts make a page, four times as many as now at most. */
async function readPage({ store }: Deps, query: SQL) {
  const rows = await store.scan.values<ContactRow>(query)
  const chars = rows.reduce((sum, [, , , , , data]) => sum + (data?.length ?? 0), 1)
  const fitting = Math.min(rows.length * 4, Math.floor((rows.length * PAGE_CHARS) / chars))
  return { page: rows.map(readContact), fitting }
}

/** How many there are, as of one moment. */
export async function countContacts(deps: Deps, scope: ContactScope): Promise<number> {
  return countFrom(deps, scope, await findSource(deps, scope, { isExact: true }))
}

/** As `countContacts`, of what `source` looks at. */
export async function countFrom(
  { store }: Deps,
  scope: ContactScope,
  source: Source,
): Promise<number> {
  const [[count] = []] = await store.scan.values<[number]>(countQuery(source, scope))
  return count ?? 0
}

export function countQuery(source: Source, scope: ContactScope): SQL {
  if ('candidates' in source) return countAmong(source.candidates, scope)
  if (source.kind === 'scan' && isAddressOnly(scope)) return countScanned(scope)
  if (matchesScope(scope) !== undefined) return countByNumber(scope)
  return sql`select contact_count from projects where id = ${scope.projectId}`
}

function selectWalkPage(
  source: Source,
  scope: ContactScope,
  place: { after: number; limit: number },
): SQL {
  const range = { ...place, dir: 'asc' as const }
  return 'candidates' in source
    ? selectAmong(source.candidates, scope, { ...range, sort: 'createdAt' })
    : selectByNumber(scope, range)
}
