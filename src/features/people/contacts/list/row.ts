/** Contacts as raw queries return them: arrays of columns in a fixed order. */

import { parseJsonText } from '../../../../base/json-text.ts'
import { octets } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { ContactData } from '../../../../store/schema/json-values.ts'

/** `number`: the position in lists and walks; the API does not show it. */
export type NumberedContact = Contact & { number: number }

/** Values in the order of `contactColumns`. */
export type ContactRow = [
  number: number,
  id: string,
  projectId: string,
  address: string,
  subscribed: number,
  data: string | null,
  createdAt: number,
  updatedAt: number,
]

/** A ContactRow with the size of the data in bytes instead of the data. */
export type ContactHead = [
  number: number,
  id: string,
  projectId: string,
  address: string,
  subscribed: number,
  dataBytes: number,
  createdAt: number,
  updatedAt: number,
]

/**
 * The first columns of a ContactRow, for a campaign. The data of a contact that gets no mail is
 * left out.
 */
export type RecipientRow = [
  number: number,
  id: string,
  projectId: null,
  address: string,
  subscribed: number,
  data: string | null,
]

const OTHER_COLUMNS = [
  'id',
  'project_id',
  'email',
  'subscribed',
  'data',
  'created_at',
  'updated_at',
]

/** The columns of the unaliased table `contacts`. */
export const contactColumns: SQL = columnsAfter(sql`contacts.number`)

/**
 * As `contactColumns`, but `number` is a column of another table, in whose order the query reads.
 */
export function columnsAfter(number: SQL): SQL {
  return sql`${number}, ${sql.raw(OTHER_COLUMNS.map((column) => `contacts.${column}`).join(', '))}`
}

/** Turns a query of ContactRows into a query of ContactHeads, in the same order. */
export function selectHeads(rows: SQL): SQL {
  const names = sql.raw(`number, ${OTHER_COLUMNS.join(', ')}`)
  return sql`with page (${names}) as (${rows}) select number, id, project_id, email, subscribed,
    coalesce(${octets(sql`data`)}, 0), created_at, updated_at from page`
}

/**
 * Turns a query of ContactRows into a query of RecipientRows. `isForAll`: whether unsubscribed
 * contacts get the mail.
 */
export function selectRecipients(rows: SQL, isForAll: boolean): SQL {
  const names = sql.raw(`number, ${OTHER_COLUMNS.join(', ')}`)
  const data = isForAll ? sql`data` : sql`case when subscribed then data end`
  return sql`with page (${names}) as (${rows}) select number, id, null, email, subscribed, ${data}
    from page`
}

export function toNumberedContact(row: ContactRow): NumberedContact {
  const [number, id, projectId, address, subscribed, data, createdAt, updatedAt] = row
  return {
    number,
    id,
    projectId,
    address,
    subscribed: subscribed === 1,
    data: data === null ? null : (parseJsonText(data) as ContactData),
    createdAt,
    updatedAt,
  }
}
