/** Lists a project's suppressions, newest first, by cursor. */
import { unknownCursor } from '../../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../../records/cursor.ts'
import type { ListedSuppression } from '../../../records/suppression.ts'
import { containsText } from '../../../store/dialect.ts'
import { and, count, desc, eq, type SQL, sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { type Suppression, suppressions } from '../../../store/schema/suppressions.ts'
import type { SuppressionReason } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { type CountedEnd, type RowCount, withTotal } from '../../ground/list-totals.ts'
import { type Listing, pageListing } from '../../ground/listing.ts'
import { toSuppressionRecord } from './view.ts'

type SuppressionQuery = {
  /** Every project if absent, for operators. */
  projectId?: string | undefined
  limit: number
  /** The cursor of an earlier page, or the id of its last item. */
  cursor?: string | undefined
  /** Part of the address, in any letter case. */
  search?: string | undefined
  reason?: SuppressionReason | undefined
}

type Deps = Pick<Base, 'store' | 'keyring'>
type PagePosition = { at: number; id: string }

/** @throws AppError VALIDATION_ERROR for an invalid cursor */
export async function listSuppressions(
  deps: Deps & Pick<Base, 'listTotals'>,
  query: SuppressionQuery,
): Promise<Listing<ListedSuppression, CountedEnd>> {
  const position = await findPosition(deps, query)
  const rows = await selectSuppressions(deps, query, position).all()
  const lines = rows.slice(0, query.limit)
  const last = rows.length > query.limit ? lines.at(-1) : undefined
  const page = pageListing({
    lines,
    read: async (slice) => slice.map((row) => toListed(query, row)),
    cursorOf: (row) => cursorOf(deps, row),
    endCursor: last === undefined ? null : cursorOf(deps, last),
  })
  const { cursor, limit: _, ...filters } = query
  return withTotal(deps, {
    page,
    cursor,
    whole: last === undefined ? lines.length : undefined,
    query: { list: 'suppressions', ...filters },
    count: () => countAll(deps, query),
  })
}

function cursorOf(deps: Deps, { createdAt, id }: Suppression): string {
  return sealCursor(deps, 'suppressions', [createdAt, id])
}

function toListed(query: SuppressionQuery, row: Suppression): ListedSuppression {
  const view = toSuppressionRecord(row)
  return query.projectId === undefined ? { ...view, projectId: row.projectId } : view
}

/**
 * The query of a page, plus one row. The instant is compared by itself, too, so that SQLite can search
 * the index.
 */
export function selectSuppressions(
  { store }: Pick<Base, 'store'>,
  query: SuppressionQuery,
  after?: PagePosition,
) {
  const isAfter =
    after &&
    sql`${suppressions.createdAt} <= ${after.at}
      and (${suppressions.createdAt}, ${suppressions.id}) < (${after.at}, ${after.id})`
  return store.scan
    .select()
    .from(suppressions)
    .where(and(matches(query), isAfter))
    .orderBy(desc(suppressions.createdAt), desc(suppressions.id))
    .limit(query.limit + 1)
}

async function countAll(
  { store, listTotals }: Pick<Base, 'store' | 'listTotals'>,
  query: SuppressionQuery,
): Promise<RowCount> {
  const rows = store.scan.select({ total: count() }).from(suppressions).where(matches(query))
  const total = (await rows.get())?.total ?? 0
  return { total, isLong: total > listTotals.stretch }
}

function matches({ projectId, search = '', reason }: SuppressionQuery): SQL | undefined {
  const part = search.trim().toLowerCase()
  return and(
    projectId === undefined ? undefined : eq(suppressions.projectId, projectId),
    reason === undefined ? undefined : eq(suppressions.reason, reason),
    part === '' ? undefined : containsText(suppressions.address, part),
  )
}

/** Also of the cursors that older versions made, `<createdAt>_<id>`, and of the id of a suppression. */
async function findPosition(
  deps: Deps,
  { projectId, cursor }: SuppressionQuery,
): Promise<PagePosition | undefined> {
  if (cursor === undefined) return undefined
  const [, olderAt, olderId] = /^(\d{1,15})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  if (olderAt !== undefined && olderId !== undefined) return { at: Number(olderAt), id: olderId }
  if (!isUuid(cursor)) {
    const [at, id] = unsealCursor(deps, 'suppressions', cursor) as [number, string]
    return { at, id }
  }
  const own = and(matches({ projectId, limit: 1 }), eq(suppressions.id, cursor))
  const row = await deps.store.read.select().from(suppressions).where(own).get()
  if (row === undefined) throw unknownCursor()
  return { at: row.createdAt, id: row.id }
}
