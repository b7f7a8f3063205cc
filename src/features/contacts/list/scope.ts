/** Which contacts of a project are meant, and how a query says so. */
import { contains } from '../../../store/dialect.ts'
import { and, type SQL, sql } from '../../../store/drizzle.ts'

/** Those that all of it is true of. */
export type ContactScope = {
  projectId: string
  subscribed?: boolean | undefined
  /** Part of the address, letter case aside; empty is as good as none. */
  search?: string | undefined
  /** As `compileCondition` made it. */
  condition?: SQL | undefined
}

/** Lists by `createdAt` are in the order of creation, which `contacts.number` keeps. */
export type ContactSort = 'createdAt' | 'email'

export type ContactOrder = { sort: ContactSort; dir: 'asc' | 'desc' }

/** Where a page ended: a number, or an address in lists by address. */
export type SortKey = number | string

export type PageRange = ContactOrder & { after?: SortKey | undefined; limit: number }

/** What is searched for as addresses are stored; '' when nothing is. */
export function normalizedSearch({ search = '' }: ContactScope): string {
  return search.trim().normalize('NFC').toLowerCase().normalize('NFC')
}

/** What is left to say of a row of the project. */
export function scopeCondition(scope: ContactScope): SQL | undefined {
  const part = normalizedSearch(scope)
  return and(
    part === '' ? undefined : contains(sql`contacts.email`, part),
    scope.subscribed === undefined ? undefined : sql`contacts.subscribed = ${scope.subscribed}`,
    scope.condition === undefined ? undefined : sql`(${scope.condition})`,
  )
}

/** Nothing of a contact but its address counts: an index has the answer without the row. */
export function isAddressOnly({ subscribed, condition }: ContactScope): boolean {
  return subscribed === undefined && condition === undefined
}

/** The values of `subscribed` that a scope has: each is a range of the index `contacts_order`. */
export function halvesOf({ subscribed }: ContactScope): boolean[] {
  return subscribed === undefined ? [false, true] : [subscribed]
}

/** ` and …` for each that is there. */
export function alsoIf(...conditions: (SQL | undefined)[]): SQL {
  const condition = and(...conditions)
  return condition === undefined ? sql`` : sql` and ${condition}`
}

/** The column that a list is sorted by. */
export function sortColumn({ sort }: ContactOrder): SQL {
  return sort === 'email' ? sql`contacts.email` : sql`contacts.number`
}

/** Behind the page before. */
export function behind(range: Pick<PageRange, 'sort' | 'dir' | 'after'>): SQL | undefined {
  if (range.after === undefined) return undefined
  const than = range.dir === 'asc' ? sql`>` : sql`<`
  return sql`${sortColumn(range)} ${than} ${range.after}`
}

/** The same of a number that stands for it in another table, as an integer. */
export function behindNumber(
  number: SQL,
  { dir, after }: Pick<PageRange, 'dir' | 'after'>,
): SQL | undefined {
  if (after === undefined) return undefined
  return sql`${number} ${dir === 'asc' ? sql`>` : sql`<`} cast(${after} as integer)`
}

export function inDirection({ dir }: Pick<ContactOrder, 'dir'>): SQL {
  return dir === 'asc' ? sql`asc` : sql`desc`
}
