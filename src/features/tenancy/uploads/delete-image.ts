import { notFound } from '../../../base/errors.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { uploads } from '../../../store/schema/uploads.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { removeImageFile } from './image-files.ts'

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
