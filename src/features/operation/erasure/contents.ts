/**
 * Erases the bodies and attachments of a project. A content whose attachments are in chunks goes after
 * its chunks, so that what is left after a crash is found again.
 */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { deleteChunks } from '../../ground/chunks.ts'
import type { Eraser, EraserDeps } from './eraser.ts'

/** Rows of a page; a body may have 2 MB. */
const PAGE = 500

const listContents = statement<{ id: string; chunkBytes: number }>(
  () => sql`select id, chunk_bytes as "chunkBytes" from contents
    where project_id = ${parameter('projectId')} limit ${PAGE}`,
)

const clearAttachments = statement(
  () => sql`update contents set attachments = null where id in ${listOf(parameter('ids'))}`,
)

const deleteContents = statement(
  () => sql`delete from contents where id in (
    select id from contents where id in ${listOf(parameter('ids'))} limit ${parameter('limit')})`,
)

export async function eraseContents({ store }: EraserDeps, eraser: Eraser): Promise<void> {
  const { projectId } = eraser.values
  for (;;) {
    eraser.signal.throwIfAborted()
    const page = await store.scan.list(listContents, { projectId })
    if (page.length === 0) return
    const chunked = page.filter(({ chunkBytes }) => chunkBytes > 0).map(({ id }) => id)
    if (chunked.length > 0) {
      await eraser.write((tx) => tx.execute(clearAttachments, { ids: JSON.stringify(chunked) }))
    }
    for (const id of chunked) await deleteChunks(store, id)
    const ids = JSON.stringify(page.map(({ id }) => id))
    await eraser.repeat((tx, limit) => tx.execute(deleteContents, { ids, limit }))
  }
}
