/**
 * Erases the bodies, attachments and received mail of a project. Rows with chunks go after their
 * chunks, so that the rest after a crash is found again.
 */
import { contains, eachOf, jsonValue, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { deleteChunks } from '../../ground/chunks.ts'
import type { Eraser, EraserDeps } from './eraser.ts'

const MESSAGE_PAGE = 1_000

/** Rows of a page; a body may have 2 MB. */
const CONTENT_PAGE = 500

const listContents = statement<{ id: string; chunkBytes: number }>(
  () => sql`select id, chunk_bytes as "chunkBytes" from contents
    where project_id = ${parameter('projectId')} limit ${CONTENT_PAGE}`,
)

const clearAttachments = statement(
  () => sql`update contents set attachments = null where id in ${listOf(parameter('ids'))}`,
)

const deleteContents = statement(
  () => sql`delete from contents where id in (
    select id from contents where id in ${listOf(parameter('ids'))} limit ${parameter('limit')})`,
)

/** Erases the bodies and attachments of a project. */
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

type FoundMessage = { id: string; isNamed: number; isAlone: number; rawChunks: number }

const listPage = statement<FoundMessage>(
  () => sql`select id, ${contains(sql`recipients`, parameter('projectId'))} as "isNamed",
      not exists (select 1 from ${eachOf(sql`recipients`)}
        where coalesce(${jsonValue(sql`value`, 'projectId')}, '') <> ${parameter('projectId')})
        as "isAlone", raw_chunks as "rawChunks"
    from inbound_messages where id > ${parameter('after')} order by id limit ${MESSAGE_PAGE}`,
)

/** The message no longer counts as stored mail, and no longer owns its chunks. */
const clearRaw = statement(
  () => sql`update inbound_messages set raw = null where id in ${listOf(parameter('ids'))}`,
)

const deleteMessages = statement(
  () => sql`delete from inbound_messages where id in (
    select id from inbound_messages where id in ${listOf(parameter('ids'))}
    limit ${parameter('limit')})`,
)

const findRecipients = statement<{ recipients: string }>(
  () => sql`select recipients from inbound_messages where id = ${parameter('id')}`,
)

const setRecipients = statement(
  () => sql`update inbound_messages set recipients = ${parameter('recipients')}
    where id = ${parameter('id')}`,
)

const deleteUsage = statement(
  () => sql`delete from inbound_usage where owner = ${parameter('projectId')}`,
)

/**
 * Erases received mail that is for mailboxes of this project only. Mail that is for others too
 * stays with them; `forget` takes the project's mailboxes out of this mail, for a project that
 * will not come back. No index finds the messages of a project, so a scan thread reads all
 * messages, a page at a time.
 */
export async function eraseInboundMessages(
  { store }: EraserDeps,
  eraser: Eraser,
  { forget }: { forget: boolean },
): Promise<void> {
  const { projectId } = eraser.values
  for (let after = ''; ; ) {
    eraser.signal.throwIfAborted()
    const page = await store.scan.list(listPage, { projectId, after })
    const named = page.filter(({ isNamed }) => isNamed === 1)
    await erase({ store }, eraser, named)
    const shared = named.filter(({ isAlone }) => isAlone === 0)
    if (forget) for (const { id } of shared) await eraser.write((tx) => leave(tx, id, projectId))
    const last = page.at(-1)
    if (last === undefined || page.length < MESSAGE_PAGE) break
    after = last.id
  }
  if (forget) await eraser.write((tx) => tx.execute(deleteUsage, { projectId }))
}

async function erase(
  { store }: Pick<EraserDeps, 'store'>,
  eraser: Eraser,
  named: readonly FoundMessage[],
): Promise<void> {
  const own = named.filter(({ isAlone }) => isAlone === 1)
  if (own.length === 0) return
  const chunked = own.filter(({ rawChunks }) => rawChunks > 0).map(({ id }) => id)
  if (chunked.length > 0) {
    await eraser.write((tx) => tx.execute(clearRaw, { ids: JSON.stringify(chunked) }))
  }
  for (const id of chunked) await deleteChunks(store, id)
  const ids = JSON.stringify(own.map(({ id }) => id))
  await eraser.repeat((tx, limit) => tx.execute(deleteMessages, { ids, limit }))
}

async function leave(tx: Tx, id: string, projectId: string): Promise<void> {
  const found = await tx.find(findRecipients, { id })
  if (found === undefined) return
  const recipients = JSON.parse(found.recipients) as { projectId?: string }[]
  const others = recipients.filter((recipient) => recipient.projectId !== projectId)
  await tx.execute(setRecipients, { id, recipients: JSON.stringify(others) })
}
