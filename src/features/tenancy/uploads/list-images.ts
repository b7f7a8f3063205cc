/** Lists a project's images, newest first, by cursor. */

import { unknownCursor } from '../../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../../records/cursor.ts'
import type { ListedUploadRecord } from '../../../records/upload.ts'
import { and, count, desc, eq, sql } from '../../../store/drizzle.ts'
import type { Upload } from '../../../store/schema/uploads.ts'
import { uploads } from '../../../store/schema/uploads.ts'
import type { Base } from '../../ground/base.ts'
import { type CountedEnd, type RowCount, withTotal } from '../../ground/list-totals.ts'
import { type Listing, pageListing } from '../../ground/listing.ts'
import { isImageName } from './image-name.ts'
import { toListedUploadRecord } from './view.ts'

type ImageQuery = {
  projectId: string
  limit: number
  /** The cursor of an earlier page, or the key of its last image. */
  cursor?: string | undefined
}

type Deps = Pick<Base, 'store' | 'config' | 'keyring' | 'listTotals'>
type PagePosition = { at: number; name: string }

/** @throws AppError VALIDATION_ERROR for an invalid cursor */
export async function listImages(
  deps: Deps,
  query: ImageQuery,
): Promise<Listing<ListedUploadRecord, CountedEnd>> {
  const position = await findPosition(deps, query)
  const rows = await selectImages(deps, query, position).all()
  const lines = rows.slice(0, query.limit)
  const last = rows.length > query.limit ? lines.at(-1) : undefined
  const page = pageListing({
    lines,
    read: async (slice) => slice.map((row) => toListedUploadRecord(deps.config, row)),
    cursorOf: (row) => cursorOf(deps, row),
    endCursor: last === undefined ? null : cursorOf(deps, last),
  })
  const { projectId, cursor } = query
  return withTotal(deps, {
    page,
    cursor,
    whole: last === undefined ? lines.length : undefined,
    query: { list: 'uploads', projectId },
    count: () => countAll(deps, query),
  })
}

function cursorOf(deps: Deps, { createdAt, name }: Upload): string {
  return sealCursor(deps, 'uploads', [createdAt, name])
}

/**
 * The query of a page, plus one row. The instant is compared by itself, too, so that SQLite can search
 * the index.
 */
export function selectImages(
  { store }: Pick<Base, 'store'>,
  query: ImageQuery,
  after?: PagePosition,
) {
  const isAfter =
    after &&
    sql`${uploads.createdAt} <= ${after.at}
      and (${uploads.createdAt}, ${uploads.name}) < (${after.at}, ${after.name})`
  return store.scan
    .select()
    .from(uploads)
    .where(and(eq(uploads.projectId, query.projectId), isAfter))
    .orderBy(desc(uploads.createdAt), desc(uploads.name))
    .limit(query.limit + 1)
}

async function countAll(
  { store, listTotals }: Pick<Base, 'store' | 'listTotals'>,
  { projectId }: ImageQuery,
): Promise<RowCount> {
  const rows = store.scan
    .select({ total: count() })
    .from(uploads)
    .where(eq(uploads.projectId, projectId))
  const total = (await rows.get())?.total ?? 0
  return { total, isLong: total > listTotals.stretch }
}

/** Also of the cursors that older versions made, `<createdAt>_<name>`, and of the name of an image. */
async function findPosition(
  deps: Deps,
  { projectId, cursor }: ImageQuery,
): Promise<PagePosition | undefined> {
  if (cursor === undefined) return undefined
  const [, olderAt, olderName = ''] = /^(\d{1,15})_(.+)$/.exec(cursor) ?? []
  if (olderAt !== undefined && isImageName(olderName))
    return { at: Number(olderAt), name: olderName }
  if (!isImageName(cursor)) {
    const [at, name] = unsealCursor(deps, 'uploads', cursor) as [number, string]
    return { at, name }
  }
  const row = await deps.store.read
    .select({ at: uploads.createdAt })
    .from(uploads)
    .where(and(eq(uploads.name, cursor), eq(uploads.projectId, projectId)))
    .get()
  if (row === undefined) throw unknownCursor()
  return { at: row.at, name: cursor }
}
