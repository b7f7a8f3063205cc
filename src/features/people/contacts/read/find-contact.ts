/**
 * Reads contacts: one of a project by its id, as a row or as the API shows it; or those with given
 * addresses.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import { parseShownAddress } from '../../../../formats/address/named-mailbox.ts'
import type { ContactRecord } from '../../../../records/contact.ts'
import type { Statements } from '../../../../store/database.ts'
import { indexedBy, listOf, orderedJoin } from '../../../../store/dialect.ts'
import { and, eq, getTableColumns, sql } from '../../../../store/drizzle.ts'
import { type Contact, contacts } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

export type ContactKey = { projectId: string; id: string }

const selectContact = statement((db) => {
  const { number: _, ...columns } = getTableColumns(contacts)
  return db
    .select(columns)
    .from(contacts)
    .where(and(eq(contacts.id, parameter('id')), eq(contacts.projectId, parameter('projectId'))))
})

export type ContactOfAddress = { projectId: string; projectName: string; subscribed: boolean }

/** Searches each project's part of the index on project and address. */
export const listContactsOfAddress = statement<{
  projectId: string
  projectName: string
  subscribed: number
}>(
  () => sql`select projects.id as "projectId", projects.name as "projectName", contacts.subscribed
    from projects
    ${orderedJoin()} contacts ${indexedBy('contacts_address')} on contacts.project_id = projects.id
      and contacts.email = ${parameter('address')}
    where projects.deleted_at is null
    order by projects.name, projects.id`,
)

/** The texts of the request, as they were given and in their order. */
type LookupResult = { found: string[]; notFound: string[] }

export const selectAddresses = statement<{ address: string }>(
  () => sql`select email as address from contacts where project_id = ${parameter('projectId')}
    and email in ${listOf(parameter('addresses'))}`,
)

/** @throws AppError CONTACT_NOT_FOUND, also for another project's */
export async function loadContact(
  { store }: Pick<Base, 'store'>,
  key: ContactKey,
): Promise<Contact> {
  return loadContactIn(store.read, key)
}

/** As `loadContact`, within a transaction or on a given reader. @throws AppError CONTACT_NOT_FOUND */
export async function loadContactIn(
  reader: Pick<Statements, 'find'>,
  key: ContactKey,
): Promise<Contact> {
  const contact = await reader.find(selectContact, key)
  if (contact === undefined) throw contactNotFound(key.id)
  return contact
}

export function toContactRecord(contact: Contact): ContactRecord {
  const { id, address, subscribed, data, projectId, createdAt, updatedAt } = contact
  return {
    id,
    email: address,
    subscribed,
    data,
    projectId,
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(updatedAt),
  }
}

/** The error is the same for a contact of another project, so that it does not reveal one. */
export function contactNotFound(id: string): AppError {
  return new AppError('CONTACT_NOT_FOUND', 'No contact of this project has that id.', {
    details: { resource: 'contact', id },
  })
}

/**
 * Lists the contacts that have an address, in all projects, in the order of the projects' names.
 * `address`: in the form of `ParsedAddress.address`.
 */
export async function findByAddress(
  { store }: Pick<Base, 'store'>,
  address: string,
): Promise<ContactOfAddress[]> {
  const rows = await store.scan.list(listContactsOfAddress, { address })
  return rows.map((row) => ({ ...row, subscribed: row.subscribed === 1 }))
}

/**
 * Splits the given addresses into contacts of the project and others. A text that is no address
 * counts as not found.
 */
export async function lookUpAddresses(
  { store }: Pick<Base, 'store'>,
  { projectId, emails }: { projectId: string; emails: readonly string[] },
): Promise<LookupResult> {
  const asked = emails.map((text) => ({ text, address: parseShownAddress(text)?.address }))
  const addresses = asked.flatMap(({ address }) => (address === undefined ? [] : [address]))
  const rows = await store.read.list(selectAddresses, {
    projectId,
    addresses: JSON.stringify(addresses),
  })
  const known = new Set<string | undefined>(rows.map(({ address }) => address))
  return {
    found: asked.filter(({ address }) => known.has(address)).map(({ text }) => text),
    notFound: asked.filter(({ address }) => !known.has(address)).map(({ text }) => text),
  }
}
