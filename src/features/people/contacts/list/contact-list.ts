/**
 * A page of a project's contacts, newest first by default. Only the first page has the total. A
 * search for one or two characters covers the 20,000 newest contacts of a large project, and so
 * does its total.
 *
 * The query of a page depends on the order, on the source of the search (search.ts) and on the
 * filter (`subscribed`, `condition`):
 *
 * | order     | source           | filter       | query (queries.ts)                              |
 * |-----------|------------------|--------------|-------------------------------------------------|
 * | createdAt | none             | no condition | selectByNumber                                  |
 * | createdAt | none             | condition    | selectByNumber, one range of numbers at a time  |
 * | createdAt | scan             | any          | selectByNumber, one range of numbers at a time  |
 * | createdAt | scan             | none         | window, then selectScanned                      |
 * | createdAt | hits             | any or none  | selectHits                                      |
 * | either    | newest, nothing  | any or none  | selectAmong the candidates                      |
 * | email     | none             | none         | selectByAddress                                 |
 * | email     | none             | any          | window, then selectSorted, one range at a time  |
 * | email     | scan             | any or none  | selectByAddress                                 |
 * | email     | hits, to 2,000   | any or none  | selectAmong the candidates                      |
 * | email     | hits, over 2,000 | any or none  | selectByAddress                                 |
 *
 * `window` is selectAmong the next 2,000 contacts of the order (selectWindow). The second query
 * runs only if these contacts do not fill the page and more contacts follow.
 */
import { unknownCursor } from '../../../../base/errors.ts'
import type { ContactRecord } from '../../../../records/contact.ts'
import { sealCursor, unsealCursor } from '../../../../records/cursor.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { isUuid } from '../../../../store/ids.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { compileCondition } from '../../../ground/conditions/compile.ts'
import type { Condition } from '../../../ground/conditions/condition.ts'
import { type Listing, type PageEnd, pageListing, withEnd } from '../../../ground/listing.ts'
import { countFrom } from './count.ts'
import { type NumberRange, walkNumberRanges } from './number-ranges.ts'
import {
  countWindow,
  PAGE_WINDOW,
  selectAmong,
  selectByAddress,
  selectByNumber,
  selectHits,
  selectScanned,
  selectSorted,
  selectWindow,
} from './queries.ts'
import { dataBytesOf, readContacts } from './read-contacts.ts'
import { type ContactHead, type NumberedContact, selectHeads } from './row.ts'
import {
  type ContactOrder,
  type ContactScope,
  type ContactSort,
  type ContactSortKey,
  needsAddressOnly,
  type PageRange,
  scopeClause,
} from './scope.ts'
import { type ContactSource, findSource } from './search.ts'
import { findByNumber } from './walk.ts'

export type ContactQuery = Omit<ContactScope, 'condition'> & {
  condition?: Condition | undefined
  limit: number
  /** The cursor of the previous page, or the id of its last contact. */
  cursor?: string | undefined
} & Partial<ContactOrder>

/** `total`: 0 after the first page. */
type ContactsEnd = PageEnd & { total: number }

type Deps = Pick<Base, 'store' | 'keyring' | 'now'>

/**
 * Above this number of hits, a page by address does not sort all hits: it follows the index of
 * addresses, which meets a hit often enough.
 */
const MAX_SORTED_HITS = 2_000

type PagePlan = { scope: ContactScope; source: ContactSource; range: PageRange }

type CursorDeps = Pick<Base, 'store' | 'keyring'>

const selectSortKey = statement((db) =>
  db
    .select({ number: contacts.number, address: contacts.address })
    .from(contacts)
    .where(and(eq(contacts.id, parameter('id')), eq(contacts.projectId, parameter('projectId')))),
)

/** @throws AppError VALIDATION_ERROR for an invalid cursor; as `compileCondition` */
export async function listContacts(
  deps: Deps,
  query: ContactQuery,
): Promise<Listing<ContactRecord, ContactsEnd>> {
  const { projectId, cursor, limit, sort = 'createdAt', dir = 'desc' } = query
  const after =
    cursor === undefined ? undefined : await parseContactCursor(deps, { projectId, sort, cursor })
  const scope = await scopeOf(deps, query)
  const source = await findSource(deps, scope)
  const range = { sort, dir, after, limit: limit + 1 }
  const [rows, total] = await Promise.all([
    findPage(deps, { scope, source, range }),
    cursor === undefined ? countFrom(deps, scope, source) : 0,
  ])
  const lines = rows.slice(0, limit)
  const last = rows.length > limit ? lines.at(-1) : undefined
  const cursorOf = ([number, , , address]: ContactHead) =>
    formatContactCursor(deps, sort, { number, address })
  const page = pageListing({
    lines,
    bytesOf: dataBytesOf,
    read: (slice) => readContacts(deps, slice),
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  return withEnd(page, (end) => ({ ...end, total }))
}

/**
 * Returns the queries of a page. `near` runs first; `far` runs if the window of `near` did not fill
 * the page.
 */
export function chooseQueries({ scope, source, range }: PagePlan) {
  if (source.kind === 'hits' && range.sort === 'createdAt') {
    return { near: selectHits(source, scope, range) }
  }
  if (source.kind === 'hits' && source.count > MAX_SORTED_HITS) {
    return { near: selectByAddress(scope, range) }
  }
  if ('candidates' in source) return { near: selectAmong(source.candidates, scope, range) }
  const isSearched = source.kind === 'scan'
  if (isByNumber({ scope, source, range })) return { near: selectByNumber(scope, range) }
  if (range.sort === 'email' && (isSearched || scopeClause(scope) === undefined)) {
    return { near: selectByAddress(scope, range) }
  }
  const near = selectAmong(selectWindow(scope, range), scope, range)
  return { near, far: isSearched ? selectScanned(scope, range) : selectSorted(scope, range) }
}

async function scopeOf(deps: Deps, query: ContactQuery): Promise<ContactScope> {
  const { projectId, subscribed, search, condition } = query
  const compiled = condition && (await compileCondition(deps, { projectId, condition }))
  return { projectId, subscribed, search, condition: compiled }
}

/**
 * Finds the heads of a page's contacts, which have the size of the data instead of the data. The
 * contacts themselves are read slice by slice.
 */
async function findPage(deps: Deps, plan: PagePlan): Promise<ContactHead[]> {
  const { scope, range } = plan
  const { store } = deps
  if (isByNumber(plan)) {
    const after = range.after === undefined ? undefined : Number(range.after)
    return findByNumber(deps, scope, { ...range, after })
  }
  const { near, far } = chooseQueries(plan)
  const rows = await store.scan.values<ContactHead>(selectHeads(near))
  if (far === undefined || rows.length === range.limit) return rows
  const [[seen] = []] = await store.scan.values<[number]>(countWindow(scope, range))
  if (seen !== undefined && seen < PAGE_WINDOW) return rows
  if (plan.source.kind === 'none') return findSorted(deps, plan)
  return store.scan.values(selectHeads(far))
}

function isByNumber({ scope, source, range }: PagePlan): boolean {
  if (range.sort !== 'createdAt' || 'candidates' in source) return false
  return source.kind === 'none' || !needsAddressOnly(scope)
}

/** Finds a page in the order of addresses: merges the first contacts of each range of numbers. */
async function findSorted(deps: Deps, { scope, range }: PagePlan): Promise<ContactHead[]> {
  const direction = range.dir === 'asc' ? 1 : -1
  const visit = (numberRange: NumberRange) =>
    deps.store.scan.values<ContactHead>(selectHeads(selectSorted(scope, { ...range, numberRange })))
  let first: ContactHead[] = []
  for await (const rows of walkNumberRanges(deps, { scope, range: {} }, visit)) {
    // The order is that of SQLite, which compares texts by their octets.
    first = [...first, ...rows]
      .sort((one, other) => direction * Buffer.compare(addressOf(one), addressOf(other)))
      .slice(0, range.limit)
  }
  return first
}

function addressOf([, , , address]: ContactHead): Buffer {
  return Buffer.from(address)
}

/** Seals the sort key of the last contact of a page as a cursor. */
function formatContactCursor(
  deps: Pick<Base, 'keyring'>,
  sort: ContactSort,
  last: Pick<NumberedContact, 'number' | 'address'>,
): string {
  return sealCursor(deps, 'contacts', [sort, sortKeyOf(sort, last)])
}

/**
 * Opens a cursor; the id of a contact is a cursor, too. @throws AppError VALIDATION_ERROR for other
 * texts, and for a cursor of another order or project
 */
async function parseContactCursor(
  deps: CursorDeps,
  { projectId, sort, cursor }: { projectId: string; sort: ContactSort; cursor: string },
): Promise<ContactSortKey> {
  if (!isUuid(cursor)) return unsealSortKey(deps, sort, cursor)
  const contact = await deps.store.read.find(selectSortKey, { projectId, id: cursor })
  if (contact === undefined) throw unknownCursor()
  return sortKeyOf(sort, contact)
}

function sortKeyOf(sort: ContactSort, { number, address }: { number: number; address: string }) {
  return sort === 'email' ? address : number
}

function unsealSortKey(deps: CursorDeps, sort: ContactSort, cursor: string): ContactSortKey {
  const [sortedBy, place] = unsealCursor(deps, 'contacts', cursor) as [string, ContactSortKey]
  if (sortedBy !== sort) throw unknownCursor()
  return place
}
