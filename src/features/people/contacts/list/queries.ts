/**
 * The queries of lists and walks over contacts; `contact-list.ts` has the table of when each is
 * used. A query follows an index from a key on, or reads a bounded number of rows. Two queries read
 * a whole project once: `selectScanned` for a rare part of an address (0.1 s per million contacts),
 * and `selectSorted` for few contacts by address among many (as long as counting them).
 */
import { indexedBy, notIndexed, orderedJoin, rowNumber } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { type NumberRange, withinNumbers } from './number-ranges.ts'
import { columnsAfter, contactColumns } from './row.ts'
import {
  afterKey,
  afterNumber,
  andAll,
  type ContactScope,
  inDirection,
  type PageRange,
  scopeClause,
  sortColumn,
  subscribedValues,
} from './scope.ts'
import { isKnownHit } from './search.sqlite.ts'
import type { SearchHits } from './search.ts'

/** The number of contacts that the first query for a page reads. */
export const PAGE_WINDOW = 2_000

/** `numberRange`: the numbers that the query is limited to; all if absent. */
export type RangedPage = Omit<PageRange, 'sort'> & { numberRange?: NumberRange | undefined }

/**
 * Selects a page by number, from the index that has the subscribed and the unsubscribed contacts
 * each in the order of their numbers.
 */
export function selectByNumber(scope: ContactScope, range: RangedPage): SQL {
  return mergeBySubscribed(scope, {
    ...range,
    columns: contactColumns,
    also: scopeClause(scope),
  })
}

/**
 * Selects the numbers of the next contacts in the order of the list, whether they match the scope
 * or not.
 */
export function selectWindow(scope: ContactScope, range: Omit<PageRange, 'limit'>): SQL {
  if (range.sort === 'createdAt') {
    return mergeBySubscribed(scope, { ...range, limit: PAGE_WINDOW, columns: sql`contacts.number` })
  }
  return sql`select contacts.number from contacts ${indexedBy('contacts_address')}
    where contacts.project_id = ${scope.projectId}${andAll(afterKey(range))}
    order by contacts.email ${inDirection(range)} limit ${PAGE_WINDOW}`
}

export function countWindow(scope: ContactScope, range: Omit<PageRange, 'limit'>): SQL {
  return sql`select count(*) from (${selectWindow(scope, range)})`
}

/** Selects the contacts among `candidates` that match the scope. */
export function selectAmong(candidates: SQL, scope: ContactScope, range: PageRange): SQL {
  return sql`select ${contactColumns} from (${candidates}) as candidates
    ${orderedJoin()} contacts on contacts.number = candidates.number
    where contacts.project_id = ${scope.projectId}${andAll(scopeClause(scope), afterKey(range))}
    order by ${sortColumn(range)} ${inDirection(range)} limit ${range.limit}`
}

export function countAmong(candidates: SQL, scope: ContactScope): SQL {
  return sql`select count(*) from (${candidates}) as candidates
    ${orderedJoin()} contacts on contacts.number = candidates.number
    where contacts.project_id = ${scope.projectId}${andAll(scopeClause(scope))}`
}

/**
 * Selects a page by number, from the search index and its backlog. Both are in the order of the
 * numbers, so SQLite reads hits until the page is full. FTS5 accepts only an integer as the first
 * `rowid`.
 */
export function selectHits(
  { match }: Pick<SearchHits, 'match'>,
  scope: ContactScope,
  range: Omit<PageRange, 'sort'>,
): SQL {
  const select = (table: SQL, number: SQL, isHit?: SQL) =>
    sql`select ${columnsAfter(number)} from ${table}
      ${orderedJoin()} contacts on contacts.number = ${number}
      where contacts.project_id = ${scope.projectId}${andAll(
        isHit,
        afterNumber(number, range),
        scopeClause(scope),
      )}`
  return sql`${select(sql`contact_search`, rowNumber('contact_search'), isKnownHit(match))}
    union all ${select(sql`contact_search_backlog`, sql`contact_search_backlog.number`)}
    order by 1 ${inDirection(range)} limit ${range.limit}`
}

/** Selects a page by address, from the index of addresses. */
export function selectByAddress(scope: ContactScope, range: Omit<PageRange, 'sort'>): SQL {
  const place = { ...range, sort: 'email' as const }
  return sql`select ${contactColumns} from contacts ${indexedBy('contacts_address')}
    where contacts.project_id = ${scope.projectId}${andAll(afterKey(place), scopeClause(scope))}
    order by contacts.email ${inDirection(range)} limit ${range.limit}`
}

/** Selects a page by number, from the index of addresses: reads every address of the project. */
export function selectScanned(scope: ContactScope, range: Omit<PageRange, 'sort'>): SQL {
  const place = { ...range, sort: 'createdAt' as const }
  const candidates = sql`select contacts.number from contacts ${indexedBy('contacts_address')}
    where contacts.project_id = ${scope.projectId}${andAll(scopeClause(scope), afterKey(place))}
    order by contacts.number ${inDirection(range)} limit ${range.limit}`
  return sql`select ${contactColumns} from (${candidates}) as candidates
    ${orderedJoin()} contacts on contacts.number = candidates.number
    order by contacts.number ${inDirection(range)}`
}

export function countScanned(scope: ContactScope): SQL {
  return sql`select count(*) from contacts ${indexedBy('contacts_address')}
    where contacts.project_id = ${scope.projectId}${andAll(scopeClause(scope))}`
}

/**
 * Selects a page by address, from the rows in the order of their numbers: reads all rows of the
 * scope.
 */
export function selectSorted(scope: ContactScope, range: RangedPage): SQL {
  const place = { ...range, sort: 'email' as const }
  const candidates = sql`select contacts.number from contacts ${indexedBy('contacts_order')}
    where ${inProject(scope)}${withinNumbers(range.numberRange)}${andAll(afterKey(place), scopeClause(scope))}
    order by contacts.email ${inDirection(range)} limit ${range.limit}`
  return sql`select ${contactColumns} from (${candidates}) as candidates
    ${orderedJoin()} contacts on contacts.number = candidates.number
    order by contacts.email ${inDirection(range)}`
}

/**
 * Counts the contacts of a scope. `isMost`: the project has most contacts of the database, so that
 * a table scan beats the index.
 */
export function countByNumber(
  scope: ContactScope,
  { isMost, numberRange }: { isMost: boolean; numberRange?: NumberRange },
): SQL {
  const isWhole = isMost && scope.subscribed === undefined
  const way = isWhole ? notIndexed() : indexedBy('contacts_order')
  return sql`select count(*) from contacts ${way}
    where ${inProject(scope)}${withinNumbers(numberRange)}${andAll(scopeClause(scope))}`
}

function inProject(scope: ContactScope): SQL {
  return sql`contacts.project_id = ${scope.projectId}
    and contacts.subscribed in (${sql.join(
      subscribedValues(scope).map((half) => sql`${half}`),
      sql`, `,
    )})`
}

type Merge = RangedPage & { columns: SQL; also?: SQL | undefined }

/**
 * Both ranges of the index (`subscribed` false and true) are ordered by number, so SQLite merges them
 * and stops when the page is full.
 */
function mergeBySubscribed(
  scope: ContactScope,
  { columns, also, numberRange, ...range }: Merge,
): SQL {
  const place = { ...range, sort: 'createdAt' as const }
  const halves = subscribedValues(scope).map(
    (subscribed) => sql`select ${columns} from contacts ${indexedBy('contacts_order')}
      where contacts.project_id = ${scope.projectId}
        and contacts.subscribed = ${subscribed}${withinNumbers(numberRange)}${andAll(afterKey(place), also)}`,
  )
  return sql`${sql.join(halves, sql` union all `)}
    order by 1 ${inDirection(range)} limit ${range.limit}`
}
