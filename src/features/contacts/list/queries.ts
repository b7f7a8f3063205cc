/**
 * The queries of lists and walks over contacts. Each walks an index behind a key, or looks at a
 * bounded number of rows, or is one of the two that look at a whole project once: `selectScanned`
 * for rare parts of addresses (0.1 s a million) and `selectSorted` for lists by address of few
 * contacts among many (as long as it takes to count them).
 */
import { indexedBy, notIndexed, rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { type NumberRange, within } from './number-ranges.ts'
import { columnsAfter, contactColumns } from './row.ts'
import {
  alsoIf,
  behind,
  behindNumber,
  type ContactScope,
  halvesOf,
  inDirection,
  type PageRange,
  scopeCondition,
  sortColumn,
} from './scope.ts'
import { isKnownHit } from './search.sqlite.ts'
import type { Hits } from './search.ts'

/** How many rows or entries the first attempt at a page looks at. */
export const WINDOW = 2_000

/** `numberRange`: looks no further; everywhere if absent. */
export type StretchOfRange = Omit<PageRange, 'sort'> & { numberRange?: NumberRange | undefined }

/** By number, from the index that has either half of the subscriptions in that order. */
export function selectByNumber(scope: ContactScope, range: StretchOfRange): SQL {
  return mergeHalves(scope, { ...range, columns: contactColumns, also: scopeCondition(scope) })
}

/** The numbers, or addresses, of the next contacts of the project, whether they match or not. */
export function selectWindow(scope: ContactScope, range: Omit<PageRange, 'limit'>): SQL {
  if (range.sort === 'createdAt') {
    return mergeHalves(scope, { ...range, limit: WINDOW, columns: sql`contacts.number` })
  }
  return sql`select contacts.number from contacts ${indexedBy('contacts_address')}
    where contacts.project_id = ${scope.projectId}${alsoIf(behind(range))}
    order by contacts.email ${inDirection(range)} limit ${WINDOW}`
}

export function countWindow(scope: ContactScope, range: Omit<PageRange, 'limit'>): SQL {
  return sql`select count(*) from (${selectWindow(scope, range)})`
}

/** Of the contacts that `candidates` names, those that match. */
export function selectAmong(candidates: SQL, scope: ContactScope, range: PageRange): SQL {
  return sql`select ${contactColumns} from (${candidates}) as candidates
    cross join contacts on contacts.number = candidates.number
    where contacts.project_id = ${scope.projectId}${alsoIf(scopeCondition(scope), behind(range))}
    order by ${sortColumn(range)} ${inDirection(range)} limit ${range.limit}`
}

export function countAmong(candidates: SQL, scope: ContactScope): SQL {
  return sql`select count(*) from (${candidates}) as candidates
    cross join contacts on contacts.number = candidates.number
    where contacts.project_id = ${scope.projectId}${alsoIf(scopeCondition(scope))}`
}

/**
 * By number, from the search index and its backlog, which both have that order: SQLite looks at
 * hits until the page is full. The index takes nothing but an integer for the place to begin at.
 */
export function selectHits(
  { match }: Pick<Hits, 'match'>,
  scope: ContactScope,
  range: Omit<PageRange, 'sort'>,
): SQL {
  const select = (table: SQL, number: SQL, isHit?: SQL) =>
    sql`select ${columnsAfter(number)} from ${table}
      cross join contacts on contacts.number = ${number}
      where contacts.project_id = ${scope.projectId}${alsoIf(
        isHit,
        behindNumber(number, range),
        scopeCondition(scope),
      )}`
  return sql`${select(sql`contact_search`, rowNumber('contact_search'), isKnownHit(match))}
    union all ${select(sql`contact_search_backlog`, sql`contact_search_backlog.number`)}
    order by 1 ${inDirection(range)} limit ${range.limit}`
}

/** By address, from the index of addresses. */
export function selectByAddress(scope: ContactScope, range: Omit<PageRange, 'sort'>): SQL {
  const place = { ...range, sort: 'email' as const }
  return sql`select ${contactColumns} from contacts ${indexedBy('contacts_address')}
    where contacts.project_id = ${scope.projectId}${alsoIf(behind(place), scopeCondition(scope))}
    order by contacts.email ${inDirection(range)} limit ${range.limit}`
}

/** By number, from the index of addresses: every address of the project is looked at. */
export function selectScanned(scope: ContactScope, range: Omit<PageRange, 'sort'>): SQL {
  const place = { ...range, sort: 'createdAt' as const }
  const candidates = sql`select contacts.number from contacts ${indexedBy('contacts_address')}
    where contacts.project_id = ${scope.projectId}${alsoIf(scopeCondition(scope), behind(place))}
    order by contacts.number ${inDirection(range)} limit ${range.limit}`
  return sql`select ${contactColumns} from (${candidates}) as candidates
    cross join contacts on contacts.number = candidates.number
    order by contacts.number ${inDirection(range)}`
}

export function countScanned(scope: ContactScope): SQL {
  return sql`select count(*) from contacts ${indexedBy('contacts_address')}
    where contacts.project_id = ${scope.projectId}${alsoIf(scopeCondition(scope))}`
}

/** By address, from the rows in the order of their numbers: all that match are looked at. */
export function selectSorted(scope: ContactScope, range: StretchOfRange): SQL {
  const place = { ...range, sort: 'email' as const }
  const candidates = sql`select contacts.number from contacts ${indexedBy('contacts_order')}
    where ${inHalves(scope)}${within(range.numberRange)}${alsoIf(behind(place), scopeCondition(scope))}
    order by contacts.email ${inDirection(range)} limit ${range.limit}`
  return sql`select ${contactColumns} from (${candidates}) as candidates
    cross join contacts on contacts.number = candidates.number
    order by contacts.email ${inDirection(range)}`
}

/** `isMost`: the project has most of all contacts; to read the others' along is faster than an index. */
export function countByNumber(
  scope: ContactScope,
  { isMost, numberRange }: { isMost: boolean; numberRange?: NumberRange },
): SQL {
  const isWhole = isMost && scope.subscribed === undefined
  const way = isWhole ? notIndexed() : indexedBy('contacts_order')
  return sql`select count(*) from contacts ${way}
    where ${inHalves(scope)}${within(numberRange)}${alsoIf(scopeCondition(scope))}`
}

function inHalves(scope: ContactScope): SQL {
  return sql`contacts.project_id = ${scope.projectId}
    and contacts.subscribed in (${sql.join(
      halvesOf(scope).map((half) => sql`${half}`),
      sql`, `,
    )})`
}

type Halves = StretchOfRange & { columns: SQL; also?: SQL | undefined }

/** SQLite merges them: none is sorted, and no more is read than the page takes. */
function mergeHalves(scope: ContactScope, { columns, also, numberRange, ...range }: Halves): SQL {
  const place = { ...range, sort: 'createdAt' as const }
  const halves = halvesOf(scope).map(
    (subscribed) => sql`select ${columns} from contacts ${indexedBy('contacts_order')}
      where contacts.project_id = ${scope.projectId}
        and contacts.subscribed = ${subscribed}${within(numberRange)}${alsoIf(behind(place), also)}`,
  )
  return sql`${sql.join(halves, sql` union all `)}
    order by 1 ${inDirection(range)} limit ${range.limit}`
}
