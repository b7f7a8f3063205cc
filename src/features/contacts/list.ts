/**
 * A project's contacts by cursor, newest first unless asked otherwise. The count comes with the
 * first page only. Of one or two characters, a large project's newest 20,000 contacts are searched,
 * and the count is of those.
 */

import { compileCondition } from '../conditions/compile.ts'
import type { Condition } from '../conditions/condition.ts'
import type { Core } from '../core.ts'
import { formatCursor, readCursor } from './cursor.ts'
import { type ContactRow, type NumberedContact, readContact } from './row.ts'
import {
  type ContactOrder,
  type ContactScope,
  isAddressOnly,
  matchesScope,
  type PageRange,
} from './scope.ts'
import { findSource, type Source } from './search.ts'
import {
  countWindow,
  selectAmong,
  selectByAddress,
  selectByNumber,
  selectScanned,
  selectSorted,
  selectWindow,
  WINDOW,
} from './select.ts'
import { type ContactView, toContactView } from './view.ts'
import { countFrom } from './walk.ts'

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

type Deps = Pick<Core, 'store' | 'keyring' | 'now'>

/** @throws AppError VALIDATION_ERROR for a cursor that is none of ours; as `compileCondition` */
export async function listContacts(deps: Deps, query: ContactQuery): Promise<ContactPage> {
  const { projectId, cursor, limit, sort = 'createdAt', dir = 'desc' } = query
  const after =
    cursor === undefined ? undefined : await readCursor(deps, { projectId, sort, cursor })
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

async function findPage({ store }: Deps, plan: PagePlan): Promise<NumberedContact[]> {
  const { scope, range } = plan
  const { near, far } = chooseQueries(plan)
  const rows = (await store.scan.values<ContactRow>(near)).map(readContact)
  if (far === undefined || rows.length === range.limit) return rows
  const [[seen] = []] = await store.scan.values<[number]>(countWindow(scope, range))
  if (seen !== undefined && seen < WINDOW) return rows
  return (await store.scan.values<ContactRow>(far)).map(readContact)
}

/** `near` looks at the next few contacts, and `far` at all, for when those do not make a page. */
export function chooseQueries({ scope, source, range }: PagePlan) {
  if ('candidates' in source) return { near: selectAmong(source.candidates, scope, range) }
  const isSearched = source.kind === 'scan'
  if (range.sort === 'createdAt' && !(isSearched && isAddressOnly(scope))) {
    return { near: selectByNumber(scope, range) }
  }
  if (range.sort === 'email' && (isSearched || matchesScope(scope) === undefined)) {
    return { near: selectByAddress(scope, range) }
  }
  const near = selectAmong(selectWindow(scope, range), scope, range)
  return { near, far: isSearched ? selectScanned(scope, range) : selectSorted(scope, range) }
}
