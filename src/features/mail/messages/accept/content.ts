/**
 * Stores contents. The recipients of a request share one content; requests that send a template
 * unchanged share one content per project and template version. Attachments that are too large for a
 * row are stored as octets, in chunks, ahead of the transaction that writes the content.
 */
import { HOUR_MS } from '../../../../base/clock.ts'
import { attachedBytes, type SourceAttachment } from '../../../../formats/compose/attachment.ts'
import {
  decodeInChunks,
  MAX_QUICK_BASE64_LENGTH,
} from '../../../../formats/compose/decode-base64.ts'
import type { RecipientFields } from '../../../../formats/compose/message-content.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import type { StoredAttachment } from '../../../../store/schema/json-values.ts'
import { contents } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Store } from '../../../../store/store.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { discardChunks, readChunks, requireChunks, writeChunks } from '../../../ground/chunks.ts'

export type { StoredAttachment } from '../../../../store/schema/json-values.ts'

/** The columns of a content that depend on where its attachments are stored. */
export type AttachmentColumns = { attachments: StoredAttachment[] | null; chunkBytes: number }

type ChunkOwner = { projectId: string; contentId: string }

export type ContentDraft = AttachmentColumns & {
  id: string
  projectId: string
  /**
   * The name of a template's version, whose content requests share; null for the own content of a
   * request.
   */
  shareKey: string | null
  subject: string
  body: string
  isText: boolean
  /** The text part beside HTML. */
  text: string | null
  /** Whether subject, body and text are sent as they are, not as templates. */
  isLiteral: boolean
  /** The parts of the message that were lost, guessed or mended; null = none. */
  warnings: readonly string[] | null
  /** To and Cc for all recipients; null: each gets its own address in To. */
  recipientFields: RecipientFields | null
  at: number
}

/** How far the stored time of the last use may lag behind the actual time. */
const LAST_USE_PRECISION_MS = HOUR_MS

const insertContent = statement((db) =>
  db.insert(contents).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    shareKey: parameter('shareKey'),
    subject: parameter('subject'),
    body: parameter('body'),
    isText: parameter('isText'),
    text: parameter('text'),
    isLiteral: parameter('isLiteral'),
    warnings: parameter('warnings'),
    recipientFields: parameter('recipientFields'),
    attachments: parameter('attachments'),
    chunkBytes: parameter('chunkBytes'),
    lastUsedAt: parameter('at'),
    createdAt: parameter('at'),
  }),
)

const findShared = statement((db) =>
  db
    .select({
      id: contents.id,
      lastUsedAt: contents.lastUsedAt,
      isCleared: sql<number>`${contents.body} is null`,
    })
    .from(contents)
    .where(
      and(
        eq(contents.projectId, parameter('projectId')),
        eq(contents.shareKey, parameter('shareKey')),
      ),
    ),
)

/** Writes the chunks of large attachments. The chunks are durable when the promise resolves. */
export async function storeAttachments(
  { store }: Pick<Base, 'store'>,
  owner: ChunkOwner,
  attachments: readonly StoredAttachment[],
): Promise<AttachmentColumns> {
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

/** Writes a content, unless a row with its `shareKey` exists. Returns the id of the row. */
export async function writeContent(tx: Tx, draft: ContentDraft): Promise<string> {
  if (draft.shareKey !== null) {
    const { projectId, shareKey } = draft
    const shared = await tx.find(findShared, { projectId, shareKey })
    if (shared !== undefined) return reuse(tx, shared, draft)
  }
  await requireAttachments(tx, draft)
  await tx.execute(insertContent, draft)
  return draft.id
}

/**
 * Writes contents as `writeContent` does. Returns the ids of the rows by draft. The drafts have no
 * attachments in chunks.
 */
export async function writeContents(
  tx: Tx,
  drafts: readonly ContentDraft[],
): Promise<Map<ContentDraft, string>> {
  const ids = new Map<ContentDraft, string>()
  const own = drafts.filter(({ shareKey }) => shareKey === null)
  await tx.insertRows(insertContent, own)
  for (const draft of own) ids.set(draft, draft.id)
  const shared = drafts.filter(({ shareKey }) => shareKey !== null)
  const keyOf = ({ projectId, shareKey }: ContentDraft) => `${projectId} ${shareKey}`
  for (const same of Map.groupBy(shared, keyOf).values()) {
    const [first] = same
    const id = first === undefined ? '' : await writeContent(tx, first)
    for (const draft of same) ids.set(draft, id)
  }
  return ids
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
    const range = { ownerId: contentId, first, count }
    const content = await Array.fromAsync(readChunks(store, range))
    if (content.length < count) return undefined
    read.push({ ...attachment, content })
    first += count
  }
  return read
}

async function writeAttachments(
  store: Store,
  { projectId, contentId }: ChunkOwner,
  attachments: readonly StoredAttachment[],
): Promise<AttachmentColumns> {
  const stored: StoredAttachment[] = []
  let first = 0
  let chunkBytes = 0
  function* octetsOf(content: string) {
    for (const bytes of decodeInChunks(content)) {
      chunkBytes += bytes.length
      yield bytes
    }
  }
  for (const attachment of attachments) {
    const range = { ownerId: contentId, first, heavyFor: projectId }
    const count = await writeChunks(store, range, octetsOf(attachment.content))
    stored.push({ ...attachment, content: '', chunks: count })
    first += count
  }
  return { attachments: stored, chunkBytes }
}

/** Checks, in the transaction that writes the content, that all chunks exist. @throws AppError DATABASE_ERROR */
async function requireAttachments(
  tx: Tx,
  { id, attachments, chunkBytes }: AttachmentColumns & { id: string },
): Promise<void> {
  if (chunkBytes === 0) return
  const count = (attachments ?? []).reduce((sum, { chunks = 0 }) => sum + chunks, 0)
  await requireChunks(tx, { ownerId: id, count })
}

async function reuse(
  tx: Tx,
  shared: { id: string; lastUsedAt: number; isCleared: number },
  { body, at }: ContentDraft,
): Promise<string> {
  if (shared.isCleared === 1 || at - shared.lastUsedAt > LAST_USE_PRECISION_MS) {
    await tx.update(contents).set({ body, lastUsedAt: at }).where(eq(contents.id, shared.id))
  }
  return shared.id
}
