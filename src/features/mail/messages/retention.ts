/**
 * Deletes expired content: bodies and attachments `retention.body_days` after their last use, and
 * the snapshot of an email's data the same number of days after its acceptance. The rows of emails
 * and the links of bodies stay, because recipients may still click the links. Mail in the queue
 * keeps its content, and loses it within a day after its end.
 *
 * Scan threads find the rows; transactions are short.
 */
import { DAY_MS, HOUR_MS } from '../../../base/clock.ts'
import { listLinks, MAX_LINK_SCAN_LENGTH } from '../../../formats/html/links.ts'
import { jsonListOf, listOf, rowNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { isUnfinishedEmail } from '../../../store/email-terms.ts'
import { contents, emails } from '../../../store/schema/messages.ts'
import { isParked } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { sweepPages } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { contentOctets } from './content-rows.ts'
import { createWalk, type OldRowsWalk, RETENTION_PACE, toBatches, walkOld } from './old-rows.ts'

type Deps = Pick<Base, 'store' | 'config' | 'now'>
type OldContent = { id: string; bytes: number }
type WithLinks = { id: string; links: string[] | null }

const PAGE = 2_000

/** How far a process has walked over contents and emails; it keeps this from run to run. */
type Walks = { contents: OldRowsWalk; emails: OldRowsWalk }

export function createWalks(): Walks {
  return { contents: createWalk(), emails: createWalk() }
}

const walksOfStores = new WeakMap<Base['store'], Walks>()

/** Returns the walks of this process over a database. */
export function walksOf({ store }: Pick<Base, 'store'>): Walks {
  const walks = walksOfStores.get(store) ?? createWalks()
  walksOfStores.set(store, walks)
  return walks
}

/** Clears expired contents and snapshots. Returns the number of contents. */
export async function deleteExpiredContent(deps: Deps, walks = createWalks()): Promise<number> {
  const before = deps.now() - deps.config.retention.bodyDays * DAY_MS
  const cleared = await clearContents(deps, walks.contents, before)
  await clearSnapshots(deps, walks.emails, before)
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

/** Lists a page of shared contents, in the order of their last use. */
export const listOld = statement<OldContent & { at: number; number: number }>(
  () => sql`select id, last_used_at as at, ${rowNumber()} as number,
      ${contentOctets} as bytes
    from contents where body is not null and share_key is not null
      and last_used_at < ${parameter('before')}
      and (last_used_at, ${rowNumber()}) > (${parameter('at')}, ${parameter('number')})
    order by last_used_at, ${rowNumber()} limit ${PAGE}`,
)

/**
 * Lists a page of contents in the order of their ids; `bytes` is null for contents that are shared
 * or were cleared.
 */
export const listOldOwn = statement<{ id: string; at: number; bytes: number | null }>(
  () => sql`select id, last_used_at as at,
      case when body is not null and share_key is null then ${contentOctets} end as bytes
    from contents where id > ${parameter('after')} and id < ${parameter('until')}
    order by id limit ${PAGE}`,
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

async function clearContents(deps: Deps, walk: OldRowsWalk, before: number): Promise<number> {
  const { store } = deps
  const rows = await store.scan.list(listContentsInQueue, { before: before + HOUR_MS })
  const inQueue = new Set(rows.map(({ id }) => id))
  const clear = (page: readonly OldContent[]) => {
    const old = page.filter(({ id }) => !inQueue.has(id))
    return clearPage(store, old, before)
  }
  return (await clearShared(deps, before, clear)) + (await clearOwn(deps, walk, { before, clear }))
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

async function clearOwn(
  { store }: Deps,
  walk: OldRowsWalk,
  { before, clear }: { before: number; clear: Clear },
): Promise<number> {
  let total = 0
  await walkOld(walk, {
    before,
    look: async (span) => {
      const page = await store.scan.list(listOldOwn, span)
      const whole = page.flatMap(({ id, at, bytes }) => (bytes === null ? [] : [{ id, at, bytes }]))
      const cleared = await clear(whole.filter(({ at }) => at < before))
      total += cleared
      return { last: lastOf(page), isLate: cleared < whole.length }
    },
  })
  return total
}

/** Returns the last id of a page; undefined for the last page. */
function lastOf(page: readonly { id: string }[]): string | undefined {
  return page.length < PAGE ? undefined : page.at(-1)?.id
}

function clearPage(
  store: Deps['store'],
  page: readonly OldContent[],
  before: number,
): Promise<number> {
  return sweepPages<WithLinks, number>(
    { store },
    { pace: RETENTION_PACE, heavyFor: 'retention' },
    {
      from: 0,
      pages: withLinks(store, toBatches(page)),
      change: async (tx, rows, total) => {
        const values = rows.map((row) => ({ ...row, before }))
        const cleared = await tx.executeEach(clearContent, values)
        return cleared.reduce((sum, count) => sum + count, total)
      },
    },
  )
}

async function* withLinks(
  store: Deps['store'],
  batches: readonly OldContent[][],
): AsyncGenerator<WithLinks[]> {
  for (const batch of batches) {
    const links = await findLinks(
      store,
      batch.map(({ id }) => id),
    )
    yield batch.map(({ id }) => ({ id, links: links.get(id) ?? null }))
  }
}

/** Finds the links of the contents that have any. */
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

/**
 * Reads a page of old emails: how many have a snapshot, and the ids of the emails whose snapshot is
 * to be cleared.
 */
export const listSnapshots = statement<{
  last: string | null
  rows: number
  whole: number
  ids: string
}>(
  () => sql`select max(id) as last, count(*) as rows, count(*) filter (where is_whole) as whole,
      ${jsonListOf(sql`id`)} filter (where is_whole and not is_unfinished) as ids
    from (select id, variables is not null or headers is not null as is_whole,
        ${isUnfinishedEmail} as is_unfinished
      from emails where id > ${parameter('after')} and id < ${parameter('until')}
      order by id limit ${PAGE})`,
)

const clearSnapshot = statement((db) =>
  db
    .update(emails)
    .set({ variables: null, headers: null })
    .where(
      sql`${emails.id} in ${listOf(parameter('ids'))}
        and not ${isUnfinishedEmail}`,
    ),
)

async function clearSnapshots({ store }: Deps, walk: OldRowsWalk, before: number): Promise<void> {
  await walkOld(walk, {
    before,
    look: async (span) => {
      const page = await store.scan.find(listSnapshots, span)
      if (page === undefined || page.last === null) return { last: undefined, isLate: false }
      const ids = JSON.parse(page.ids) as string[]
      const rules = { pace: RETENTION_PACE, heavyFor: undefined }
      const cleared = await sweepPages<string, number>({ store }, rules, {
        from: 0,
        pages: [ids],
        change: async (tx, some, total) =>
          total + (await tx.execute(clearSnapshot, { ids: JSON.stringify(some) })),
      })
      return { last: page.rows < PAGE ? undefined : page.last, isLate: cleared < page.whole }
    },
  })
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
