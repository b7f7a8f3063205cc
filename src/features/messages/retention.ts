/**
 * Deletes expired content: bodies and attachments `retention.body_days` after their last use, and
 * the snapshot of an email's data the same number of days after its acceptance. The rows of emails
 * and the links of bodies stay, because recipients may still click the links. Mail in the queue
 * keeps its content.
 *
 * Scan threads find the rows; transactions are short.
 */
import { DAY_MS, HOUR_MS } from '../../clock.ts'
import { listLinks, MAX_LINK_SCAN_LENGTH } from '../../mail/html/links.ts'
import { jsonListOf, listOf, rowNumber } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import { isUnfinished } from '../../store/email-terms.ts'
import { contents, emails } from '../../store/schema/messages.ts'
import { isParked } from '../../store/shelves.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { contentOctets } from './content-octets.ts'

type Deps = Pick<Base, 'store' | 'config' | 'now'>
type OldContent = { id: string; bytes: number }

/** Rows per transaction; clearing a text visits all its database pages. */
const BATCH = 100
const BATCH_BYTES = 8 * 1024 * 1024
const PAGE = 2_000

/** Clears expired contents and snapshots. Returns the number of contents. */
export async function deleteExpiredContent(deps: Deps): Promise<number> {
  const before = deps.now() - deps.config.retention.bodyDays * DAY_MS
  const cleared = await clearContents(deps, before)
  await clearSnapshots(deps, before)
  return cleared
}

/**
 * Lists the contents of mail in the queue. `before` must allow for `contents.last_used_at`, which
 * may be an hour older than the newest email that shares the content.
 */
export const listContentsInQueue = statement<{ id: string }>(
  () => sql`select content_id as id from emails
    where due_at is not null and created_at < ${parameter('before')}
    union select content_id from emails
    where lease_until is not null and created_at < ${parameter('before')}
    union select content_id from emails
    where ${isParked} and created_at < ${parameter('before')}`,
)

/** Shared contents, by their last use. */
export const listOld = statement<OldContent & { at: number; number: number }>(
  () => sql`select id, last_used_at as at, ${rowNumber()} as number,
      ${contentOctets} as bytes
    from contents where body is not null and share_key is not null
      and last_used_at < ${parameter('before')}
      and (last_used_at, ${rowNumber()}) > (${parameter('at')}, ${parameter('number')})
    order by last_used_at, ${rowNumber()} limit ${PAGE}`,
)

/** A page of the other contents, newest first; `bytes` is null for those that stay or were cleared. */
export const listOldOwn = statement<{ id: string; bytes: number | null }>(
  () => sql`select id, case when body is not null and share_key is null
        and last_used_at < ${parameter('before')} then ${contentOctets} end as bytes
    from contents where id < ${parameter('position')} order by id desc limit ${PAGE}`,
)

const clearContent = statement((db) =>
  db
    .update(contents)
    .set({
      ...{ body: null, text: null, attachments: null, recipientFields: null },
      links: parameter('links'),
    })
    .where(
      sql`${contents.id} = ${parameter('id')}
        and ${contents.lastUsedAt} < ${parameter('before')}`,
    ),
)

/** The part of each body in which links are searched. */
const listHtml = statement<{ id: string; html: string }>(
  () => sql`select id, substr(body, 1, ${MAX_LINK_SCAN_LENGTH}) as html from contents
    where id in ${listOf(parameter('ids'))}
      and not is_text and body is not null`,
)

async function clearContents(deps: Deps, before: number): Promise<number> {
  const { store } = deps
  const rows = await store.scan.list(listContentsInQueue, { before: before + HOUR_MS })
  const inQueue = new Set(rows.map(({ id }) => id))
  const clear = (page: readonly OldContent[]) => {
    const old = page.filter(({ id }) => !inQueue.has(id))
    return clearPage(store, old, before)
  }
  return (await clearShared(deps, before, clear)) + (await clearOwn(deps, before, clear))
}

type Clear = (page: readonly OldContent[]) => Promise<number>

async function clearShared({ store }: Deps, before: number, clear: Clear): Promise<number> {
  let position = { at: Number.MIN_SAFE_INTEGER, number: 0 }
  let total = 0
  for (;;) {
    const page = await store.scan.list(listOld, { before, ...position })
    total += await clear(page)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return total
    position = last
  }
}

async function clearOwn(deps: Deps, before: number, clear: Clear): Promise<number> {
  let position = idAt(before)
  let total = 0
  for (;;) {
    const page = await deps.store.scan.list(listOldOwn, { before, position })
    const old = page.flatMap(({ id, bytes }) => (bytes === null ? [] : [{ id, bytes }]))
    const cleared = await clear(old)
    total += cleared
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return total
    if (cleared === 0 && mayStop(deps, { before, oldest: last.id })) return total
    position = last.id
  }
}

async function clearPage(
  store: Deps['store'],
  page: readonly OldContent[],
  before: number,
): Promise<number> {
  let total = 0
  for (const batch of toBatches(page)) {
    total += await clearBatch(store, { ids: batch.map(({ id }) => id), before })
    await yieldToLoop()
  }
  return total
}

/**
 * Old emails and contents are read from the newest to the oldest: all of those whose mail may have ended since
 * the last run, and further while a page has something to clear. On the first of each month all are read,
 * because some mail may have been held for a long time.
 */
function mayStop(
  { config, now }: Deps,
  { before, oldest }: { before: number; oldest: string },
): boolean {
  const isThorough = new Date(now()).getUTCDate() === 1
  const spanMs = Math.max(...Object.values(config.delivery.giveUpAfter)) + 2 * DAY_MS
  return !isThorough && oldest < idAt(before - spanMs)
}

async function clearBatch(
  store: Deps['store'],
  { ids, before }: { ids: readonly string[]; before: number },
): Promise<number> {
  const links = await findLinks(store, ids)
  const rows = ids.map((id) => ({ id, before, links: links.get(id) ?? null }))
  const write = (tx: Tx) => tx.executeEach(clearContent, rows)
  const cleared = await store.write(write, { heavyFor: 'retention' })
  return cleared.reduce((sum, count) => sum + count, 0)
}

/** The links of the contents that have any. */
async function findLinks(
  { scan }: Deps['store'],
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const links = new Map<string, string[]>()
  for (const { id, html } of await scan.list(listHtml, { ids: JSON.stringify(ids) })) {
    const found = listLinks(html)
    if (found.length > 0) links.set(id, found)
    await yieldToLoop()
  }
  return links
}

/** Splits rows into batches bounded in rows and bytes; a larger row is its own batch. */
export function toBatches<Row extends { bytes: number }>(rows: readonly Row[]): Row[][] {
  const batches: Row[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of rows) {
    const open = batches.at(-1)
    bytes += row.bytes
    if (open !== undefined && open.length < BATCH && bytes <= BATCH_BYTES) open.push(row)
    else {
      batches.push([row])
      bytes = row.bytes
    }
  }
  return batches
}

/** A page of old emails, newest first, and the ids of those that have a snapshot to clear. */
export const listSnapshots = statement<{ oldest: string | null; rows: number; ids: string }>(
  () => sql`select min(id) as oldest, count(*) as rows,
      ${jsonListOf(sql`id`)} filter (where is_clearable) as ids
    from (select id, (variables is not null or headers is not null)
        and not ${isUnfinished} as is_clearable
      from emails where id < ${parameter('before')} order by id desc limit ${PAGE})`,
)

const clearSnapshot = statement((db) =>
  db
    .update(emails)
    .set({ variables: null, headers: null })
    .where(
      sql`${emails.id} in ${listOf(parameter('ids'))}
        and not ${isUnfinished}`,
    ),
)

async function clearSnapshots(deps: Deps, before: number): Promise<void> {
  const { store } = deps
  let position = idAt(before)
  for (;;) {
    const page = await store.scan.find(listSnapshots, { before: position })
    if (page === undefined || page.oldest === null) return
    const ids = JSON.parse(page.ids) as string[]
    for (let start = 0; start < ids.length; start += BATCH) {
      const batch = JSON.stringify(ids.slice(start, start + BATCH))
      await store.write((tx) => tx.execute(clearSnapshot, { ids: batch }))
      await yieldToLoop()
    }
    const isDone = ids.length === 0 && mayStop(deps, { before, oldest: page.oldest })
    if (page.rows < PAGE || isDone) return
    position = page.oldest
  }
}

/** A text that sorts before every UUIDv7 of `instant` and later. */
function idAt(instant: number): string {
  const time = Math.max(0, instant).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
