/**
 * Reads the contents of a claimed batch. A cache of some megabytes holds the contents that several
 * emails share; the content of a single email is read once and not cached. Small contents are read
 * together, large ones one by one, so that the event loop is not blocked.
 */
import { createLru } from '../../../../base/lru.ts'
import type { SourceAttachment } from '../../../../formats/compose/attachment.ts'
import type { MessageContent } from '../../../../formats/compose/message-content.ts'
import { contentBytes, SMALL_CONTENT_BYTES } from '../../../../outbound/composing/contents.ts'
import type { Outbound } from '../../../../outbound/outbound.ts'
import type { RowOf } from '../../../../store/database.ts'
import { listOf } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { type Content, contents } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { readAttachments } from '../accept/content.ts'
import { contentOctets } from '../content-octets.ts'

export type LoadedContents = {
  /** By id, without the contents that retention cleared. */
  found: ReadonlyMap<string, MessageContent>
  /** Contents that were too large for this batch. */
  left: ReadonlySet<string>
}

export type ContentCache = {
  /** `ids`: one for each email, even if emails share a content. */
  load(ids: readonly string[]): Promise<LoadedContents>
}

const MAX_CACHED_BYTES = 8 * 1024 * 1024
/**
 * The maximum size of one load. The first large content may be larger, if outbound has memory for
 * it.
 */
const MAX_LOADED_BYTES = 32 * 1024 * 1024
/** Small contents per statement; one statement takes milliseconds. */
const CHUNK = 100
/** Loading this much takes about a millisecond; the event loop runs other work after it. */
const YIELD_BYTES = 256 * 1024

const bytes = sql<number>`${contentOctets} + chunk_bytes`
const isSmall = sql`${bytes} <= ${SMALL_CONTENT_BYTES}`

/** Small contents with their texts, large ones with their size only. */
const listContents = statement((db) =>
  db
    .select({
      id: contents.id,
      subject: contents.subject,
      isText: contents.isText,
      isLiteral: contents.isLiteral,
      isShared: sql<boolean>`share_key is not null`.mapWith(Boolean),
      isCleared: sql<boolean>`body is null`.mapWith(Boolean),
      bytes,
      projectId: contents.projectId,
      body: sql<string | null>`case when ${isSmall} then body end`,
      text: sql<string | null>`case when ${isSmall} then text end`,
      attachments: sql<Content['attachments']>`case when ${isSmall} then attachments end`.mapWith(
        contents.attachments,
      ),
      recipientFields: sql<
        Content['recipientFields']
      >`case when ${isSmall} then recipient_fields end`.mapWith(contents.recipientFields),
    })
    .from(contents)
    .where(sql`id in ${listOf(parameter('ids'))}`),
)

const findTexts = statement((db) =>
  db
    .select({
      body: contents.body,
      text: contents.text,
      attachments: contents.attachments,
      recipientFields: contents.recipientFields,
    })
    .from(contents)
    .where(eq(contents.id, parameter('id'))),
)

type Deps = Pick<Base, 'store'> & { outbound: Pick<Outbound, 'hasMemoryFor'> }
type ContentRow = RowOf<typeof listContents>

export function createContentCache(deps: Deps): ContentCache {
  const cache = createLru<MessageContent>(MAX_CACHED_BYTES, { sizeOf })
  async function load(ids: readonly string[]): Promise<LoadedContents> {
    const found = new Map<string, MessageContent>()
    const missing = new Map<string, number>()
    for (const id of ids) {
      const known = cache.get(id)
      if (known === undefined) missing.set(id, (missing.get(id) ?? 0) + 1)
      else found.set(id, known)
    }
    const { read, left } = await readContents(deps, [...missing.keys()])
    for (const { content, isShared } of read) {
      found.set(content.id, content)
      if (isShared || (missing.get(content.id) ?? 0) > 1) cache.set(content.id, content)
    }
    return { found, left }
  }
  return { load }
}

type Texts = Pick<Content, 'body' | 'text' | 'recipientFields'> & {
  attachments: SourceAttachment[] | null
}
type ReadContent = { content: MessageContent; isShared: boolean }
type Load = { read: ReadContent[]; left: Set<string> }

async function readContents(deps: Deps, ids: readonly string[]): Promise<Load> {
  const load: Load = { read: [], left: new Set() }
  const large: ContentRow[] = []
  let total = 0
  for (let start = 0; start < ids.length; start += CHUNK) {
    if (start > 0) await yieldToEventLoop()
    const chunk = JSON.stringify(ids.slice(start, start + CHUNK))
    for (const row of await deps.store.read.list(listContents, { ids: chunk })) {
      if (row.isCleared) continue
      if (row.bytes > SMALL_CONTENT_BYTES) large.push(row)
      else {
        add(load, row, row)
        total += row.bytes
      }
    }
  }
  await readLarge(deps, load, { rows: large, total })
  return load
}

async function readLarge(
  { store, outbound }: Deps,
  load: Load,
  { rows, total }: { rows: readonly ContentRow[]; total: number },
): Promise<void> {
  let bytesRead = total
  const ofProject = new Map<string, number>()
  for (const [index, row] of rows.entries()) {
    const own = (ofProject.get(row.projectId) ?? 0) + row.bytes
    const isTooMuch = index > 0 && bytesRead + row.bytes > MAX_LOADED_BYTES
    if (isTooMuch || !outbound.hasMemoryFor(row.projectId, own)) {
      load.left.add(row.id)
      continue
    }
    ofProject.set(row.projectId, own)
    bytesRead += row.bytes
    const texts = await store.read.find(findTexts, { id: row.id })
    const attachments = await readAttachments({ store }, row.id, texts?.attachments ?? [])
    if (texts !== undefined && attachments !== undefined) add(load, row, { ...texts, attachments })
    if (row.bytes > YIELD_BYTES) await yieldToEventLoop()
  }
}

function add(
  { read }: Load,
  { id, subject, isText, isLiteral, isShared }: ContentRow,
  { body, text, attachments, recipientFields }: Texts,
): void {
  if (body === null) return
  const content = {
    ...{ id, subject, body, isText, text, attachments: attachments ?? [] },
    ...(isLiteral && { isLiteral }),
    ...(recipientFields && { recipientFields }),
  }
  read.push({ content, isShared })
}

function sizeOf(content: MessageContent): number {
  return 200 + 2 * contentBytes(content)
}

function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
