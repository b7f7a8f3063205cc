/**
 * Stores contents. The recipients of a request share one content; requests that send a template
 * unchanged share one content per project and template version.
 */
import { HOUR_MS } from '../../../clock.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { contents } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type AttachmentColumns, requireAttachments } from './attachment-chunks.ts'

export type ContentDraft = AttachmentColumns & {
  id: string
  projectId: string
  /** Names a template version; null for a request's own content. */
  shareKey: string | null
  subject: string
  body: string
  isText: boolean
  /** The text part beside HTML. */
  text: string | null
  at: number
}

/** By how much the stored time of the last use may lag behind. */
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

/** Returns the id of the content's row. */
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
