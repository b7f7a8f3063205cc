/**
 * The scope of a query: which contacts of a project it means, and the SQL that selects these
 * contacts in an order.
 */
import { comparable } from '../../../../base/nfc.ts'
import { contains } from '../../../../store/dialect.ts'
import { and, type SQL, sql } from '../../../../store/drizzle.ts'

/** A contact is in the scope if it matches every property. */
export type ContactScope = {
  projectId: string
  subscribed?: boolean | undefined
  /** A part of the address, in any letter case; an empty text selects all contacts. */
  search?: string | undefined
  /** As `compileCondition` returns it. */
  condition?: SQL | undefined
}

/** A list by `createdAt` follows `contacts.number`, which is the order of creation. */
export type ContactSort = 'createdAt' | 'email'

export type ContactOrder = { sort: ContactSort; dir: 'asc' | 'desc' }

/** The sort key of the last contact of a page: its number or, in lists by address, its address. */
export type ContactSortKey = number | string

export type PageRange = ContactOrder & { after?: ContactSortKey | undefined; limit: number }

/**
 * Returns the searched part of an address in the form in which addresses are stored; '' without a
 * search.
 */
export function normalizedSearch({ search = '' }: ContactScope): string {
  return comparable(search.trim())
}

/** Returns the SQL condition on a row of the project; undefined if all rows are in the scope. */
export function scopeClause(scope: ContactScope): SQL | undefined {
  const part = normalizedSearch(scope)
  return and(
    part === '' ? undefined : contains(sql`contacts.email`, part),
    scope.subscribed === undefined ? undefined : sql`contacts.subscribed = ${scope.subscribed}`,
    scope.condition === undefined ? undefined : sql`(${scope.condition})`,
  )
}

/** Whether an index of addresses is enough to find the contacts, without their rows. */
export function needsAddressOnly({ subscribed, condition }: ContactScope): boolean {
  return subscribed === undefined && condition === undefined
}

/**
 * Returns the values of `subscribed` in the scope; each value is one range of the index
 * `contacts_order`.
 */
export function subscribedValues({ subscribed }: ContactScope): boolean[] {
  return subscribed === undefined ? [false, true] : [subscribed]
}

/** Returns the SQL ` and …` for the conditions that are present; empty without one. */
export function andAll(...conditions: (SQL | undefined)[]): SQL {
  const condition = and(...conditions)
  return condition === undefined ? sql`` : sql` and ${condition}`
}

/** The column that a list is sorted by. */
export function sortColumn({ sort }: ContactOrder): SQL {
  return sort === 'email' ? sql`contacts.email` : sql`contacts.number`
}

/** Returns the SQL condition for rows that follow the last contact of the previous page. */
export function afterKey(range: Pick<PageRange, 'sort' | 'dir' | 'after'>): SQL | undefined {
  if (range.after === undefined) return undefined
  const than = range.dir === 'asc' ? sql`>` : sql`<`
  return sql`${sortColumn(range)} ${than} ${range.after}`
}

/** As `afterKey`, for a column `number` of another table: there the number must be an integer. */
export function afterNumber(
  number: SQL,
  { dir, after }: Pick<PageRange, 'dir' | 'after'>,
): SQL | undefined {
  if (after === undefined) return undefined
  return sql`${number} ${dir === 'asc' ? sql`>` : sql`<`} cast(${after} as integer)`
}

export function inDirection({ dir }: Pick<ContactOrder, 'dir'>): SQL {
  return dir === 'asc' ? sql`asc` : sql`desc`
}
