/** Contacts as raw queries read them: columns in one fixed order, for queries that give arrays. */
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Contact, ContactData } from '../../../store/schema/contacts.ts'

/** `number`: its place in lists and walks; nobody outside sees it. */
export type NumberedContact = Contact & { number: number }

/** In the order of `contactColumns`. */
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

const otherColumns = ['id', 'project_id', 'email', 'subscribed', 'data', 'created_at', 'updated_at']

/** Of the table `contacts`, unaliased. */
export const contactColumns: SQL = columnsAfter(sql`contacts.number`)

/** `number`: the same of another table, in whose order they come. */
export function columnsAfter(number: SQL): SQL {
  return sql`${number}, ${sql.raw(otherColumns.map((column) => `contacts.${column}`).join(', '))}`
}

export function toContact(row: ContactRow): NumberedContact {
  const [number, id, projectId, address, subscribed, data, createdAt, updatedAt] = row
  return {
    number,
    id,
    projectId,
    address,
    subscribed: subscribed === 1,
    data: data === null ? null : (JSON.parse(data) as ContactData),
    createdAt,
    updatedAt,
  }
}
