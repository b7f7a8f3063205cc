/** Finds one contact of a project by its id. */

import type { Statements } from '../../../../store/database.ts'
import { and, eq, getTableColumns } from '../../../../store/drizzle.ts'
import { type Contact, contacts } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { contactNotFound } from './view.ts'

export type ContactKey = { projectId: string; id: string }

const selectContact = statement((db) => {
  const { number: _, ...columns } = getTableColumns(contacts)
  return db
    .select(columns)
    .from(contacts)
    .where(and(eq(contacts.id, parameter('id')), eq(contacts.projectId, parameter('projectId'))))
})

/** @throws AppError CONTACT_NOT_FOUND, also for another project's */
export async function getContact(
  { store }: Pick<Base, 'store'>,
  key: ContactKey,
): Promise<Contact> {
  return getContactIn(store.read, key)
}

/** As `getContact`, within a transaction or on a given reader. @throws AppError CONTACT_NOT_FOUND */
export async function getContactIn(
  reader: Pick<Statements, 'find'>,
  key: ContactKey,
): Promise<Contact> {
  const contact = await reader.find(selectContact, key)
  if (contact === undefined) throw contactNotFound(key.id)
  return contact
}
