/**
 * A plain list: the rows of one table that a condition leaves, newest first, with a sealed cursor and the total.
 * Rows of one instant are in the order of their key. The table needs an index on what the condition compares,
 * `created_at` and the key.
 */
import { sealCursor, unsealCursor } from '../../records/cursor.ts'
import {
  and,
  count,
  desc,
  type InferSelectModel,
  type SQL,
  type SQLiteColumn,
  type SQLiteTable,
  sql,
} from '../../store/drizzle.ts'
import type { Base } from './base.ts'
import { type CountedEnd, type RowCount, withTotal } from './list-totals.ts'
import { type Listing, pageListing } from './listing.ts'

type Dated = SQLiteTable & { createdAt: SQLiteColumn }

type NewestFirst<Table extends Dated> = {
  /** The name of the list in its cursors and in its counts; each list has its own name. */
  list: string
  table: Table
  /** The property of the column that orders the rows of one instant. */
  key: keyof InferSelectModel<Table> & keyof Table & string
}

/** The place of a row: its instant in epoch milliseconds, and its key. */
export type Place = { at: number; key: string }

type Wanted<Row, Item> = {
  /** Selects the rows of the list. */
  where: SQL | undefined
  /** The values that `where` compares. Two lists with the same values share a count. */
  filters: object
  limit: number
  /** The cursor of the request. */
  cursor: string | undefined
  /** Finds the place of an older, unsealed form of cursor; undefined for any other text. */
  findPlace?(cursor: string): Promise<Place | undefined>
  toItem(row: Row): Item
}

type Deps = Pick<Base, 'store' | 'keyring' | 'listTotals'>

/** @throws AppError VALIDATION_ERROR for an invalid cursor */
export async function listNewest<Table extends Dated, Item>(
  deps: Deps,
  { list, table, key }: NewestFirst<Table>,
  { where, filters, limit, cursor, findPlace, toItem }: Wanted<InferSelectModel<Table>, Item>,
): Promise<Listing<Item, CountedEnd>> {
  const readPlace = (sealed: string) => {
    const [at, last] = unsealCursor(deps, list, sealed) as [number, string]
    return { at, key: last }
  }
  const after =
    cursor === undefined ? undefined : ((await findPlace?.(cursor)) ?? readPlace(cursor))
  const query = selectNewest(deps, { list, table, key }, { where, limit, after })
  const rows = (await query.all()) as InferSelectModel<Table>[]
  const lines = rows.slice(0, limit)
  const last = rows.length > limit ? lines.at(-1) : undefined
  const cursorOf = (row: InferSelectModel<Table>) =>
    sealCursor(deps, list, [Object(row).createdAt, row[key]])
  const page = pageListing({
    lines,
    read: async (slice) => slice.map(toItem),
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  return withTotal(deps, {
    page,
    cursor,
    whole: last === undefined ? lines.length : undefined,
    query: { list, ...filters },
    count: () => countRows(deps, table, where),
  })
}

/**
 * The query of a page, plus one row. The instant is compared by itself, too, so that SQLite can search
 * the index.
 */
export function selectNewest<Table extends Dated>(
  { store }: Pick<Base, 'store'>,
  { table, key }: NewestFirst<Table>,
  { where, limit, after }: { where: SQL | undefined; limit: number; after?: Place | undefined },
) {
  const [{ createdAt }, keyColumn] = [table, table[key] as SQLiteColumn]
  const isAfter =
    after &&
    sql`${createdAt} <= ${after.at} and (${createdAt}, ${keyColumn}) < (${after.at}, ${after.key})`
  return store.scan
    .select()
    .from(table as Dated)
    .where(and(where, isAfter))
    .orderBy(desc(createdAt), desc(keyColumn))
    .limit(limit + 1)
}

async function countRows(
  { store, listTotals }: Pick<Base, 'store' | 'listTotals'>,
  table: SQLiteTable,
  where: SQL | undefined,
): Promise<RowCount> {
  const row = await store.scan.select({ total: count() }).from(table).where(where).get()
  const total = row?.total ?? 0
  return { total, isLong: total > listTotals.stretch }
}
