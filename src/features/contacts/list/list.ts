/**
 * A project's contacts by cursor, newest first unless asked otherwise. The count comes with the
 * first page only. Of one or two characters, a large project's newest 20,000 contacts are searched,
 * and the count is of those.
 */

import type { Base } from '../../base.ts'
import { compileCondition } from '../../conditions/compile.ts'
import type { Condition } from '../../conditions/condition.ts'
import { type ContactView, toContactView } from '../read/view.ts'
import { formatCursor, parseCursor } from './cursor.ts'
import { type NumberRange, walkNumberRanges } from './number-ranges.ts'
import {
  countWindow,
  selectAmong,
  selectByAddress,
  selectByNumber,
  selectHits,
  selectScanned,
  selectSorted,
  selectWindow,
  WINDOW,
} from './queries.ts'
import { type ContactRow, type NumberedContact, toContact } from './row.ts'
import {
  type ContactOrder,
  type ContactScope,
  isAddressOnly,
  type PageRange,
  scopeCondition,
} from './scope.ts'
import { findSource, type Source } from './search.ts'
import { countFrom, findByNumber } from './walk.ts'

export type ContactQuery = Omit<ContactScope, 'condition'> & {
  condition?: Condition | undefined
  limit: number
  /** As a page before gave it, or the id of its last item. */
  cursor?: string | undefined
} & Partial<ContactOrder>

export type ContactPage = {
  data: ContactView[]
  cursor: string | null
  hasMore: boolean
  /** 0 behind a cursor. */
  total: number
}

type Deps = Pick<Base, 'store' | 'keyring' | 'now'>

/** @throws AppError VALIDATION_ERROR for a cursor that is none of ours; as `compileCondition` */
export async function listContacts(deps: Deps, query: ContactQuery): Promise<ContactPage> {
  const { projectId, cursor, limit, sort = 'createdAt', dir = 'desc' } = query
  const after =
    cursor === undefined ? undefined : await parseCursor(deps, { projectId, sort, cursor })
  const scope = await scopeOf(deps, query)
  const source = await findSource(deps, scope)
  const range = { sort, dir, after, limit: limit + 1 }
  const [rows, total] = await Promise.all([
    findPage(deps, { scope, source, range }),
    cursor === undefined ? countFrom(deps, scope, source) : 0,
  ])
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const hasMore = rows.length > limit
  return {
    data: page.map(toContactView),
    cursor: hasMore && last !== undefined ? formatCursor(deps, sort, last) : null,
    hasMore,
    total,
  }
}

async function scopeOf(deps: Deps, query: ContactQuery): Promise<ContactScope> {
  const { projectId, subscribed, search, condition } = query
  const compiled = condition && (await compileCondition(deps, { projectId, condition }))
  return { projectId, subscribed, search, condition: compiled }
}

type PagePlan = { scope: ContactScope; source: Source; range: PageRange }

async function findPage(deps: Deps, plan: PagePlan): Promise<NumberedContact[]> {
  return (await findRows(deps, plan)).map(toContact)
}

async function findRows(deps: Deps, plan: PagePlan): Promise<ContactRow[]> {
  const { scope, range } = plan
  const { store } = deps
  if (isByNumber(plan)) {
    const after = range.after === undefined ? undefined : Number(range.after)
    return findByNumber(deps, scope, { ...range, after })
  }
  const { near, far } = chooseQueries(plan)
  const rows = await store.scan.values<ContactRow>(near)
  if (far === undefined || rows.length === range.limit) return rows
  const [[seen] = []] = await store.scan.values<[number]>(countWindow(scope, range))
  if (seen !== undefined && seen < WINDOW) return rows
  if (plan.source.kind === 'none') return findSorted(deps, plan)
  return store.scan.values(far)
}

function isByNumber({ scope, source, range }: PagePlan): boolean {
  if (range.sort !== 'createdAt' || 'candidates' in source) return false
  return source.kind === 'none' || !isAddressOnly(scope)
}

/** By address: the first of each range, and of those the first. */
async function findSorted(deps: Deps, { scope, range }: PagePlan): Promise<ContactRow[]> {
  const direction = range.dir === 'asc' ? 1 : -1
  const look = (numberRange: NumberRange) =>
    deps.store.scan.values<ContactRow>(selectSorted(scope, { ...range, numberRange }))
  let first: ContactRow[] = []
  for await (const rows of walkNumberRanges(deps, { scope, range: {} }, look)) {
    // As SQLite compares texts: by their octets.
    first = [...first, ...rows]
      .sort((one, other) => direction * Buffer.compare(addressOf(one), addressOf(other)))
      .slice(0, range.limit)
  }
  return first
}

function addressOf([, , , address]: ContactRow): Buffer {
  return Buffer.from(address)
}

/** More hits are not sorted by address for each page: one in so many of the next addresses is one. */
const MAX_SORTED = 2_000

/** `near` looks at the next few contacts, and `far` at all, for when those do not make a page. */
export function chooseQueries({ scope, source, range }: PagePlan) {
  if (source.kind === 'hits' && range.sort === 'createdAt') {
    return { near: selectHits(source, scope, range) }
  }
  if (source.kind === 'hits' && source.count > MAX_SORTED) {
    return { near: selectByAddress(scope, range) }
  }
  if ('candidates' in source) return { near: selectAmong(source.candidates, scope, range) }
  const isSearched = source.kind === 'scan'
  if (isByNumber({ scope, source, range })) return { near: selectByNumber(scope, range) }
  if (range.sort === 'email' && (isSearched || scopeCondition(scope) === undefined)) {
    return { near: selectByAddress(scope, range) }
  }
  const near = selectAmong(selectWindow(scope, range), scope, range)
  return { near, far: isSearched ? selectScanned(scope, range) : selectSorted(scope, range) }
}
