/**
 * Cursors of lists whose order the client chooses and whose pages have numbers. A cursor has the
 * sort key and the id of a page's last row, and the number of that page. The bare id of a row is a
 * cursor as well.
 */

import { unknownCursor } from '../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../records/cursor.ts'
import { MAX_CURSOR_LENGTH } from '../../records/limits.ts'
import { asc, desc, type SQL, sql } from '../../store/drizzle.ts'
import { isUuid } from '../../store/ids.ts'
import type { Base } from './base.ts'

type SortKey = string | number
type Order = { sort: string; dir: 'asc' | 'desc' }

/** `page`: the number of the page that ends at this place; 1 after the bare id of a row. */
export type SortedPlace = { sortKey: SortKey; id: string; page: number }

type Deps = Pick<Base, 'keyring'>

/**
 * Formats the cursor after a row. A row with a name too long for the cursor of a request gets its bare id.
 */
export function formatSortedCursor(
  deps: Deps,
  list: string,
  { sort, dir, sortKey, id, page }: Order & SortedPlace,
): string {
  const sealed = sealCursor(deps, list, [sort, dir, sortKey, id, page])
  return sealed.length <= MAX_CURSOR_LENGTH ? sealed : id
}

/**
 * `findSortKey` finds the sort key of the row with an id; undefined for an unknown id.
 * @throws AppError VALIDATION_ERROR for other texts, and for a cursor of another list or order
 */
export async function parseSortedCursor(
  deps: Deps,
  list: string,
  {
    sort,
    dir,
    cursor,
    findSortKey,
  }: Order & { cursor: string; findSortKey(id: string): Promise<SortKey | undefined> },
): Promise<SortedPlace> {
  if (isUuid(cursor)) {
    const sortKey = await findSortKey(cursor)
    if (sortKey === undefined) throw unknownCursor()
    return { sortKey, id: cursor, page: 1 }
  }
  const place = unsealCursor(deps, list, cursor) as [string, string, SortKey, string, number]
  const [sortedBy, direction, sortKey, id, page] = place
  if (sortedBy !== sort || direction !== dir) throw unknownCursor()
  return { sortKey, id, page }
}

type SortedPage = {
  /** The expression that the list is ordered by. */
  key: SQL
  id: SQL
  dir: Order['dir']
  /**
   * The place after which the page begins; undefined for a page that is asked for by its number.
   */
  place: SortedPlace | undefined
  page: number
  pageSize: number
}

/** Makes the clauses of a statement that reads a page and one row more. */
export function clausesOf({ key, id, dir, place, page, pageSize }: SortedPage) {
  const by = dir === 'asc' ? asc : desc
  const than = dir === 'asc' ? sql`>` : sql`<`
  return {
    isAfter: place && sql`(${key}, ${id}) ${than} (${place.sortKey}, ${place.id})`,
    order: [by(key), by(id)],
    limit: pageSize + 1,
    offset: place === undefined ? (page - 1) * pageSize : 0,
  }
}
