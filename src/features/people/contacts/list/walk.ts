/**
 * Walks all contacts of a scope for bulk jobs, exports, segments and campaigns: page by page on the
 * scan threads, in the order of their numbers, which is the order of their creation.
 */
import type { SQL } from '../../../../store/drizzle.ts'
import type { Base } from '../../../ground/base.ts'
import { type NumberRange, walkNumberRanges } from './number-ranges.ts'
import { type RangedPage, selectAmong, selectByNumber, selectHits } from './queries.ts'
import {
  type ContactHead,
  type ContactRow,
  type NumberedContact,
  type RecipientRow,
  selectHeads,
  selectRecipients,
  toNumberedContact,
} from './row.ts'
import { type ContactScope, normalizedSearch } from './scope.ts'
import { type ContactSource, findSource } from './search.ts'

type Deps = Pick<Base, 'store'>

const PAGE = 500

/**
 * The number of contacts in the first page; the size of their data decides how many the next page
 * has.
 */
const FIRST_PAGE = 50
/**
 * A page with a filter ends after about this time even if it is not full, so that a walk through
 * contacts of which few match still makes progress.
 */
const PAGE_MS = 250
/**
 * The approximate maximum of a page's data in characters: a contact may have 64 KB of data, and
 * callers keep pages in memory.
 */
const WALK_PAGE_CHARS = 1024 * 1024

type WalkOptions = { size?: number; after?: number }

/** `upTo`: the walk is through with all contacts up to this number; undefined on the last page. */
type WalkedPage = { contacts: NumberedContact[]; upTo: number | undefined }
export type WalkedRows<Row> = { rows: Row[]; upTo: number | undefined }

/**
 * Yields every contact of the scope once. Contacts that are created, changed or deleted during the
 * walk may or may not appear. `size`: the maximum number of contacts in a page, fewer if their data
 * is large; `after`: continues after the contact with this number.
 */
export async function* walkContacts(
  deps: Deps,
  scope: ContactScope,
  options: WalkOptions = {},
): AsyncGenerator<NumberedContact[]> {
  for await (const { contacts } of walkPages(deps, scope, options)) {
    if (contacts.length > 0) yield contacts
  }
}

/** As `walkContacts`, with the position of the walk. Pages may be empty. */
export async function* walkPages(
  deps: Deps,
  scope: ContactScope,
  options: WalkOptions = {},
): AsyncGenerator<WalkedPage> {
  for await (const { rows, upTo } of walkRows<ContactRow>(deps, scope, options, asRows)) {
    yield { contacts: rows.map(toNumberedContact), upTo }
  }
}

/**
 * As `walkPages`, but only with the columns that a campaign needs. `isForAll`: whether unsubscribed
 * contacts get it.
 */
export function walkCampaignContacts(
  deps: Deps,
  scope: ContactScope,
  { isForAll, ...options }: WalkOptions & { isForAll: boolean },
): AsyncGenerator<WalkedRows<RecipientRow>> {
  return walkRows(deps, scope, options, (rows) => selectRecipients(rows, isForAll))
}

async function* walkRows<Row extends ContactRow | RecipientRow>(
  deps: Deps,
  scope: ContactScope,
  { size = PAGE, after = 0 }: WalkOptions,
  form: (rows: SQL) => SQL,
): AsyncGenerator<WalkedRows<Row>> {
  const source = await findSource(deps, scope, { isExact: true })
  let place = { after, limit: Math.min(size, FIRST_PAGE) }
  for (;;) {
    const page = await findWalkPage<Row>(deps, { source, scope, form, ...place })
    yield page
    const { rows, upTo } = page
    if (upTo === undefined) return
    place = { after: upTo, limit: Math.max(1, Math.min(size, nextPageSize(rows, place.limit))) }
  }
}

/**
 * Returns the number of contacts for the next page, which should have `WALK_PAGE_CHARS` of data if its
 * contacts are as large as these; at most four times `limit`.
 */
function nextPageSize(rows: readonly (ContactRow | RecipientRow)[], limit: number): number {
  if (rows.length === 0) return limit
  const chars = rows.reduce((sum, [, , , , , data]) => sum + (data?.length ?? 0), 1)
  return Math.min(limit * 4, Math.floor((rows.length * WALK_PAGE_CHARS) / chars))
}

/** `form`: turns a query of contact rows into the query that runs. */
type WalkPosition = {
  source: ContactSource
  scope: ContactScope
  after: number
  limit: number
  form(rows: SQL): SQL
}

async function findWalkPage<Row extends ContactRow | RecipientRow>(
  deps: Deps,
  { source, scope, form, ...place }: WalkPosition,
): Promise<WalkedRows<Row>> {
  const range = { ...place, dir: 'asc' as const }
  if (source.kind === 'hits') {
    const query = selectHits(source, scope, range)
    return toPage(await deps.store.scan.values<Row>(form(query)), range)
  }
  if ('candidates' in source) {
    const query = selectAmong(source.candidates, scope, { ...range, sort: 'createdAt' })
    return toPage(await deps.store.scan.values<Row>(form(query)), range)
  }
  return readByNumber<Row>(deps, scope, { ...range, maxMs: PAGE_MS, form })
}

type ContactRange = Omit<RangedPage, 'after'> & { after?: number | undefined }

/**
 * Returns the heads of a page in the order of numbers. A filter or a search reads one range of numbers at
 * a time.
 */
export async function findByNumber(
  deps: Deps,
  scope: ContactScope,
  range: ContactRange,
): Promise<ContactHead[]> {
  const reading = { ...range, maxMs: Number.POSITIVE_INFINITY, form: selectHeads }
  return (await readByNumber<ContactHead>(deps, scope, reading)).rows
}

/** `maxMs`: begins no further range of numbers after this time. `form`: as in `WalkPosition`. */
type ContactRead = ContactRange & { maxMs: number; form(rows: SQL): SQL }

const asRows = (rows: SQL): SQL => rows

async function readByNumber<Row extends ContactHead | ContactRow | RecipientRow>(
  deps: Deps,
  scope: ContactScope,
  { maxMs, form, ...range }: ContactRead,
): Promise<WalkedRows<Row>> {
  if (scope.condition === undefined && normalizedSearch(scope) === '') {
    return toPage(await deps.store.scan.values<Row>(form(selectByNumber(scope, range))), range)
  }
  const rows: Row[] = []
  const visit = async (numberRange: NumberRange) => {
    const limit = range.limit - rows.length
    rows.push(
      ...(await deps.store.scan.values<Row>(
        form(selectByNumber(scope, { dir: range.dir, limit, numberRange })),
      )),
    )
    return numberRange.upTo
  }
  const endsAt = performance.now() + maxMs
  for await (const upTo of walkNumberRanges(deps, { scope, range }, visit)) {
    if (rows.length === range.limit) break
    if (upTo < Number.MAX_SAFE_INTEGER && performance.now() >= endsAt) return { rows, upTo }
  }
  return toPage(rows, range)
}

/** A page that is not full is the last one. */
function toPage<Row extends ContactHead | ContactRow | RecipientRow>(
  rows: Row[],
  { limit }: Pick<ContactRange, 'limit'>,
): WalkedRows<Row> {
  return { rows, upTo: rows.length < limit ? undefined : rows.at(-1)?.[0] }
}
