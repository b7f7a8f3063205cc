/** Attachments that are too large for a row are stored as octets, in chunks. */
import { attachedBytes, type SourceAttachment } from '../../../mail/compose/attachment.ts'
import { decodeInChunks, MAX_QUICK_BASE64_LENGTH } from '../../../mail/compose/decode-base64.ts'
import type { StoredAttachment } from '../../../store/schema/messages.ts'
import type { Store } from '../../../store/store.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { discardChunks, readChunks, requireChunks, writeChunks } from '../../chunks.ts'

export type { StoredAttachment } from '../../../store/schema/messages.ts'

/** The columns of a content that depend on where its attachments are stored. */
export type AttachmentColumns = { attachments: StoredAttachment[] | null; chunkBytes: number }

type Owner = { projectId: string; contentId: string }

/** Writes the chunks of large attachments; they are durable when it resolves. */
export async function storeAttachments(
  { store }: Pick<Base, 'store'>,
  owner: Owner,
  attachments: readonly StoredAttachment[],
): Promise<AttachmentColumns> {
  if (attachments.length === 0) return { attachments: null, chunkBytes: 0 }
  if (attachedBytes(attachments) <= MAX_QUICK_BASE64_LENGTH) {
    return { attachments: [...attachments], chunkBytes: 0 }
  }
  try {
    return await writeAttachments(store, owner, attachments)
  } catch (error) {
    await discardChunks(store, owner.contentId)
    throw error
  }
}

async function writeAttachments(
  store: Store,
  { projectId, contentId }: Owner,
  attachments: readonly StoredAttachment[],
): Promise<AttachmentColumns> {
  const kept: StoredAttachment[] = []
  let first = 0
  let chunkBytes = 0
  function* octetsOf(content: string) {
    for (const bytes of decodeInChunks(content)) {
      chunkBytes += bytes.length
      yield bytes
    }
  }
  for (const attachment of attachments) {
    const place = { ownerId: contentId, first, heavyFor: projectId }
    const count = await writeChunks(store, place, octetsOf(attachment.content))
    kept.push({ ...attachment, content: '', chunks: count })
    first += count
  }
  return { attachments: kept, chunkBytes }
}

/** Checks, in the transaction that writes the content, that all chunks exist. @throws AppError DATABASE_ERROR */
export async function requireAttachments(
  tx: Tx,
  { id, attachments, chunkBytes }: AttachmentColumns & { id: string },
): Promise<void> {
  if (chunkBytes === 0) return
  const count = (attachments ?? []).reduce((sum, { chunks = 0 }) => sum + chunks, 0)
  await requireChunks(tx, { ownerId: id, count })
}

/** Returns undefined if a chunk is missing: retention has cleared the content. */
export async function readAttachments(
  { store }: Pick<Base, 'store'>,
  contentId: string,
  attachments: readonly StoredAttachment[],
): Promise<SourceAttachment[] | undefined> {
  const read: SourceAttachment[] = []
  let first = 0
  for (const { chunks: count, ...attachment } of attachments) {
    if (count === undefined) {
      read.push(attachment)
      continue
    }
    const place = { ownerId: contentId, first, count }
    const content = await Array.fromAsync(readChunks(store, place))
    if (content.length < count) return undefined
    read.push({ ...attachment, content })
    first += count
  }
  return read
}
