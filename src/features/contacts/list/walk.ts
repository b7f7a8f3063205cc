/**
 * Walks all contacts of a scope for bulk jobs, exports, segments and campaigns: page by page on the
 * scan threads, in the order of their numbers, which is the order of their creation.
 */
import type { Base } from '../../base.ts'
import { type NumberRange, walkNumberRanges } from './number-ranges.ts'
import { type RangedPage, selectAmong, selectByNumber, selectHits } from './queries.ts'
import { type ContactRow, type NumberedContact, toContact } from './row.ts'
import { type ContactScope, normalizedSearch } from './scope.ts'
import { type ContactSource, findSource } from './search.ts'

type Deps = Pick<Base, 'store'>

const PAGE = 500

/** Contacts of the first page; the size of their data decides the size of the next page. */
const FIRST_PAGE = 50
/** A page is at most about this large: a contact may have 64 KB of data, and callers hold pages. */
const PAGE_CHARS = 1024 * 1024

/**
 * Yields every contact of the scope once. Contacts that are created, changed or deleted during the
 * walk may or may not appear. `size`: the maximum number of contacts in a page, fewer if their data
 * is large; `after`: continues after the contact with this number.
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
    place = { after: last[0], limit: Math.max(1, Math.min(size, nextPageSize(rows))) }
  }
}

/** Contacts of the next page if they are as large as these; at most four times as many. */
function nextPageSize(rows: readonly ContactRow[]): number {
  const chars = rows.reduce((sum, [, , , , , data]) => sum + (data?.length ?? 0), 1)
  return Math.min(rows.length * 4, Math.floor((rows.length * PAGE_CHARS) / chars))
}

type WalkPosition = { source: ContactSource; scope: ContactScope; after: number; limit: number }

async function findWalkPage(
  deps: Deps,
  { source, scope, ...place }: WalkPosition,
): Promise<ContactRow[]> {
  const range = { ...place, dir: 'asc' as const }
  if (source.kind === 'hits') return deps.store.scan.values(selectHits(source, scope, range))
  if ('candidates' in source) {
    const query = selectAmong(source.candidates, scope, { ...range, sort: 'createdAt' })
    return deps.store.scan.values(query)
  }
  return findByNumber(deps, scope, range)
}

/**
 * Returns a page in the order of numbers. A filter or a search reads one range of numbers at a
 * time.
 */
export async function findByNumber(
  deps: Deps,
  scope: ContactScope,
  range: Omit<RangedPage, 'after'> & { after?: number | undefined },
): Promise<ContactRow[]> {
  if (scope.condition === undefined && normalizedSearch(scope) === '') {
    return deps.store.scan.values(selectByNumber(scope, range))
  }
  const rows: ContactRow[] = []
  const visit = async (numberRange: NumberRange) => {
    const limit = range.limit - rows.length
    rows.push(
      ...(await deps.store.scan.values<ContactRow>(
        selectByNumber(scope, { dir: range.dir, limit, numberRange }),
      )),
    )
  }
  for await (const _ of walkNumberRanges(deps, { scope, range }, visit)) {
    if (rows.length === range.limit) break
  }
  return rows
}
