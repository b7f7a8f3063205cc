/** Deletes images: one of a project, and the files without a row. */
import { HOUR_MS } from '../../../base/clock.ts'
import { notFound } from '../../../base/errors.ts'
import { eachOf } from '../../../store/dialect.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { idTime } from '../../../store/ids.ts'
import { uploads } from '../../../store/schema/uploads.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { listImageFiles, removeImageFile } from './image-files.ts'

/** The age at which a file without a row is removed: longer than any request. */
const EXPIRES_AFTER_MS = HOUR_MS
const BATCH_FILES = 500

const deleteUpload = statement((db) =>
  db
    .delete(uploads)
    .where(and(eq(uploads.name, parameter('name')), eq(uploads.projectId, parameter('projectId'))))
    .returning({ file: uploads.file }),
)

/**
 * Deletes an image: its URL leads nowhere once this resolves.
 * @throws AppError RESOURCE_NOT_FOUND, also for an image of another project
 */
export async function deleteImage(
  { store, config, log }: Pick<Base, 'store' | 'config' | 'log'>,
  { projectId, name }: { projectId: string; name: string },
): Promise<void> {
  const deleted = await store.write((tx) => tx.find(deleteUpload, { projectId, name }))
  if (deleted === undefined) throw notFound('upload', name, 'There is no such image.')
  await removeImageFile(config, deleted.file).catch((error) =>
    log.warn({ error }, 'the file of a deleted image could not be removed'),
  )
}

export const selectOrphans = statement<{ file: string }>(
  () => sql`select given.value as file from ${eachOf(sql`${parameter('files')}`)} as given
    where not exists (select 1 from uploads where file = given.value)`,
)

/**
 * Removes the files of images that have no row: the files that a crash left, and those of deleted
 * projects. The rows decide: a row whose file is missing stays. Stops between two batches when
 * `signal` is aborted.
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
    await removeOrphans(deps, batch)
    batch = []
  }
  await removeOrphans(deps, batch)
}

async function removeOrphans(
  { store, config }: Pick<Base, 'store' | 'config'>,
  files: readonly string[],
): Promise<void> {
  if (files.length === 0) return
  const orphans = await store.scan.list(selectOrphans, { files: JSON.stringify(files) })
  for (const { file } of orphans) await removeImageFile(config, file)
}
