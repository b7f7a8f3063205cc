/**
 * The images of a project: their records, their list, newest first, and their deletion. Also
 * deletes files without a row.
 */
import { formatInstant, HOUR_MS } from '../../../base/clock.ts'
import { notFound, unknownCursor } from '../../../base/errors.ts'
import type { Config } from '../../../config/config.ts'
import type { ListedUploadRecord, UploadRecord } from '../../../records/upload.ts'
import { eachOf } from '../../../store/dialect.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { idTime } from '../../../store/ids.ts'
import { type Upload, uploads } from '../../../store/schema/uploads.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import type { CountedEnd } from '../../ground/list-totals.ts'
import type { Listing } from '../../ground/listing.ts'
import { listNewest, type Place } from '../../ground/newest-first.ts'
import { deleteImageFile, isImageName, listImageFiles } from './image-files.ts'

type ImageQuery = {
  projectId: string
  limit: number
  /** The cursor that an earlier page gave, or the name of that page's last image. */
  cursor?: string | undefined
}

/** The list of images, newest first: its name in cursors, its table and its key. */
export const NEWEST_UPLOADS = { list: 'uploads', table: uploads, key: 'name' } as const

export const isImageOf = (projectId: string) => eq(uploads.projectId, projectId)

/**
 * Lists the images of a project by cursor.
 * @throws AppError VALIDATION_ERROR for an invalid cursor
 */
export async function listImages(
  deps: Pick<Base, 'store' | 'config' | 'keyring' | 'listTotals'>,
  { projectId, limit, cursor }: ImageQuery,
): Promise<Listing<ListedUploadRecord, CountedEnd>> {
  return listNewest(deps, NEWEST_UPLOADS, {
    where: isImageOf(projectId),
    filters: { projectId },
    limit,
    cursor,
    findPlace: (given) => findPlace(deps, projectId, given),
    toItem: (row) => toListedUploadRecord(deps.config, row),
  })
}

/** Finds the place of an older form of cursor, `<createdAt>_<name>`, or of the name of an image. */
async function findPlace(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  cursor: string,
): Promise<Place | undefined> {
  const [, olderAt, olderName = ''] = /^(\d{1,15})_(.+)$/.exec(cursor) ?? []
  if (olderAt !== undefined && isImageName(olderName))
    return { at: Number(olderAt), key: olderName }
  if (!isImageName(cursor)) return undefined
  const row = await store.read
    .select({ at: uploads.createdAt })
    .from(uploads)
    .where(and(eq(uploads.name, cursor), isImageOf(projectId)))
    .get()
  if (row === undefined) throw unknownCursor()
  return { at: row.at, key: cursor }
}

/** The age at which a file without a row is removed. No request takes that long. */
const EXPIRES_AFTER_MS = HOUR_MS
const BATCH_FILES = 500

const deleteUpload = statement((db) =>
  db
    .delete(uploads)
    .where(and(eq(uploads.name, parameter('name')), eq(uploads.projectId, parameter('projectId'))))
    .returning({ file: uploads.file }),
)

/**
 * Deletes an image. Its URL no longer works once this resolves.
 * @throws AppError RESOURCE_NOT_FOUND, also for an image of another project
 */
export async function deleteImage(
  { store, config, log }: Pick<Base, 'store' | 'config' | 'log'>,
  { projectId, name }: { projectId: string; name: string },
): Promise<void> {
  const deleted = await store.write((tx) => tx.find(deleteUpload, { projectId, name }))
  if (deleted === undefined) throw notFound('upload', name, 'There is no such image.')
  await deleteImageFile(config, deleted.file).catch((error) =>
    log.warn({ error }, 'the file of a deleted image could not be removed'),
  )
}

export const selectOrphans = statement<{ file: string }>(
  () => sql`select given.value as file from ${eachOf(sql`${parameter('files')}`)} as given
    where not exists (select 1 from uploads where file = given.value)`,
)

/**
 * Removes files of images that have no row: those that a crash left, and those of deleted projects.
 * A row whose file is missing stays. Stops between two batches when `signal` is aborted.
 */
export async function deleteOrphanedFiles(
  deps: Pick<Base, 'store' | 'config' | 'now'>,
  signal?: AbortSignal,
): Promise<void> {
  const before = deps.now() - EXPIRES_AFTER_MS
  let batch: string[] = []
  for await (const file of listImageFiles(deps.config)) {
    if (signal?.aborted) return
    if (idTime(file) < before) batch.push(file)
    if (batch.length < BATCH_FILES) continue
    await deleteOrphans(deps, batch)
    batch = []
  }
  await deleteOrphans(deps, batch)
}

async function deleteOrphans(
  { store, config }: Pick<Base, 'store' | 'config'>,
  files: readonly string[],
): Promise<void> {
  if (files.length === 0) return
  const orphans = await store.scan.list(selectOrphans, { files: JSON.stringify(files) })
  for (const { file } of orphans) await deleteImageFile(config, file)
}

/** Makes the record of an uploaded image. */
export function toUploadRecord({ baseUrl }: Pick<Config, 'baseUrl'>, upload: Upload): UploadRecord {
  const { name, filename, contentType, sizeBytes } = upload
  // The cast is safe, because the server stores no other types.
  const type = contentType as UploadRecord['contentType']
  return {
    url: `${baseUrl}/uploads/${name}`,
    key: name,
    filename,
    contentType: type,
    size: sizeBytes,
  }
}

/** Makes the record of an image in a list. */
export function toListedUploadRecord(
  config: Pick<Config, 'baseUrl'>,
  upload: Upload,
): ListedUploadRecord {
  const { width, height, createdAt } = upload
  return {
    ...toUploadRecord(config, upload),
    width,
    height,
    createdAt: formatInstant(createdAt),
  }
}
