/**
 * Attachments that are too large to be written or read at a stretch are kept as octets in chunks.
 * Each chunk is durable by itself before the email is accepted, and nothing refers to it yet: where
 * the email is refused, `dropDraft` deletes them, and what a process that died left, or a content
 * that was cleared or deleted, the sweep does.
 */
import { setImmediate as othersTurn } from 'node:timers/promises'
import { attachedBytes, type SourceAttachment } from '../../mail/attachment.ts'
import { decodeInChunks, QUICK_BASE64_LENGTH } from '../../mail/base64-text.ts'
import { and, eq, sql } from '../../store/drizzle.ts'
import { firstIdAt } from '../../store/ids.ts'
import { attachmentChunks, type StoredAttachment } from '../../store/schema.ts'
import { parameter, type Store, statement, type Tx } from '../../store/store.ts'
import type { Core } from '../core.ts'

/** What of a content's row depends on how its attachments are kept. */
export type KeptAttachments = { attachments: StoredAttachment[] | null; chunkBytes: number }

/** No request takes as long. */
const ABANDONED_MS = 60 * 60 * 1000

const insertChunk = statement((db) =>
  db.insert(attachmentChunks).values({
    contentId: parameter('contentId'),
    number: parameter('number'),
    bytes: parameter('bytes'),
  }),
)

const findChunk = statement((db) =>
  db
    .select({ bytes: attachmentChunks.bytes })
    .from(attachmentChunks)
    .where(
      and(
        eq(attachmentChunks.contentId, parameter('contentId')),
        eq(attachmentChunks.number, parameter('number')),
      ),
    ),
)

const deleteLast = statement(
  () => sql`delete from attachment_chunks where content_id = ${parameter('contentId')}
    and number = (select max(number) from attachment_chunks
      where content_id = ${parameter('contentId')})`,
)

export const listAbandoned = statement<{ contentId: string }>(
  () => sql`select distinct content_id as contentId from attachment_chunks
    where content_id < ${parameter('before')} and not exists (
      select 1 from contents where id = content_id and attachments is not null)`,
)

/** Writes the chunks where there are to be some; durable when it resolves. */
export async function keepAttachments(
  { store }: Pick<Core, 'store'>,
  { projectId, contentId }: { projectId: string; contentId: string },
  attachments: readonly StoredAttachment[],
): Promise<KeptAttachments> {
  if (attachments.length === 0) return { attachments: null, chunkBytes: 0 }
  if (attachedBytes(attachments) <= QUICK_BASE64_LENGTH) {
    return { attachments: [...attachments], chunkBytes: 0 }
  }
  try {
    return await writeChunks(store, { projectId, contentId }, attachments)
  } catch (error) {
    await dropDraft(store, contentId)
    throw error
  }
}

async function writeChunks(
  store: Store,
  { projectId, contentId }: { projectId: string; contentId: string },
  attachments: readonly StoredAttachment[],
): Promise<KeptAttachments> {
  const kept: StoredAttachment[] = []
  let number = 0
  let chunkBytes = 0
  for (const attachment of attachments) {
    const first = number
    for (const bytes of decodeInChunks(attachment.content)) {
      const chunk = { contentId, number, bytes }
      await store.write((tx) => tx.execute(insertChunk, chunk), { heavyFor: projectId })
      number += 1
      chunkBytes += bytes.length
    }
    kept.push({ ...attachment, content: '', chunks: number - first })
  }
  return { attachments: kept, chunkBytes }
}

/** Undefined where a chunk is missing: the content has been cleared meanwhile. */
export async function readAttachments(
  { store }: Pick<Core, 'store'>,
  contentId: string,
  attachments: readonly StoredAttachment[],
): Promise<SourceAttachment[] | undefined> {
  const read: SourceAttachment[] = []
  let number = 0
  for (const { chunks, ...attachment } of attachments) {
    if (chunks === undefined) {
      read.push(attachment)
      continue
    }
    const content: Uint8Array[] = []
    for (const end = number + chunks; number < end; number += 1) {
      const chunk = await store.read.find(findChunk, { contentId, number })
      if (chunk === undefined) return undefined
      content.push(chunk.bytes)
      await othersTurn()
    }
    read.push({ ...attachment, content })
  }
  return read
}

/** One by one: freeing one takes about as long as writing it did. */
export async function dropChunks(store: Store, contentId: string): Promise<void> {
  for (;;) {
    const write = (tx: Tx) => tx.execute(deleteLast, { contentId })
    const deleted = await store.write(write, { heavyFor: 'retention' })
    if (deleted === 0) return
  }
}

/** Of an email that is refused. What cannot be deleted now, the sweep deletes. */
export async function dropDraft(store: Store, contentId: string): Promise<void> {
  await dropChunks(store, contentId).catch(() => undefined)
}

/** Deletes the chunks that no content names. */
export async function sweepChunks({ store, now }: Pick<Core, 'store' | 'now'>): Promise<void> {
  const before = firstIdAt(now() - ABANDONED_MS)
  for (const { contentId } of await store.scan.list(listAbandoned, { before })) {
    await dropChunks(store, contentId)
  }
}
