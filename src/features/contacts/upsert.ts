/**
 * A contact comes into being, or changes, by being written to: one row per address and project.
 * Creating one emits nothing; a flip of `subscribed` on an existing one emits
 * `contact.subscribed` or `contact.unsubscribed` in the same transaction.
 */
import type { ParsedAddress } from '../../mail/address.ts'
import { eq, sql } from '../../store/drizzle.ts'
import { newId } from '../../store/ids.ts'
import { type Contact, type ContactData, contacts, projects } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'
import { appendEvent } from '../events/append.ts'
import { mergeData } from './data.ts'

export type ContactChange = {
  projectId: string
  address: ParsedAddress
  /** As `readData` made them; null deletes a key. */
  changes: ContactData
  /** Undefined keeps an existing contact's state. */
  subscribed: boolean | undefined
  /** The state of a contact that did not exist and for whom none is given. */
  subscribedByDefault: boolean
  at: number
}

export type UpsertedContact = { contact: Contact; isNew: boolean }

const findContactByEmail = statement((db) =>
  db
    .select()
    .from(contacts)
    .where(
      sql`${contacts.projectId} = ${parameter('projectId')} and ${contacts.email} = ${parameter('email')}`,
    ),
)

const insertContact = statement((db) =>
  db.insert(contacts).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    email: parameter('email'),
    subscribed: parameter('subscribed'),
    data: parameter('data'),
    createdAt: parameter('createdAt'),
    updatedAt: parameter('updatedAt'),
  }),
)

const countContact = statement((db) =>
  db
    .update(projects)
    .set({ contactCount: sql`${projects.contactCount} + 1` })
    .where(eq(projects.id, parameter('projectId'))),
)

export async function upsertContact(tx: Tx, change: ContactChange): Promise<UpsertedContact> {
  const { projectId, address } = change
  const known = await tx.find(findContactByEmail, { projectId, email: address.address })
  if (known === undefined) return { contact: await createContact(tx, change), isNew: true }
  return { contact: await changeContact(tx, known, change), isNew: false }
}

async function createContact(tx: Tx, change: ContactChange): Promise<Contact> {
  const contact: Contact = {
    id: newId(),
    projectId: change.projectId,
    email: change.address.address,
    subscribed: change.subscribed ?? change.subscribedByDefault,
    data: mergeData(null, change.changes),
    createdAt: change.at,
    updatedAt: change.at,
  }
  await tx.execute(insertContact, contact)
  await tx.execute(countContact, { projectId: change.projectId })
  return contact
}

async function changeContact(tx: Tx, known: Contact, change: ContactChange): Promise<Contact> {
  const data = mergeData(known.data, change.changes)
  const subscribed = change.subscribed ?? known.subscribed
  const isFlip = subscribed !== known.subscribed
  if (data === known.data && !isFlip) return known
  const contact = { ...known, data, subscribed, updatedAt: change.at }
  await tx
    .update(contacts)
    .set({ data, subscribed, updatedAt: change.at })
    .where(eq(contacts.id, known.id))
  if (isFlip) await appendSubscriptionEvent(tx, contact, { at: change.at })
  return contact
}

/** Sets `subscribed` of one contact; an event only when that is a change. */
export async function setSubscribed(
  tx: Tx,
  contactId: string,
  change: { subscribed: boolean; at: number; reason: string; emailId: string | null },
): Promise<boolean> {
  const [contact] = await tx
    .update(contacts)
    .set({ subscribed: change.subscribed, updatedAt: change.at })
    .where(
      sql`${contacts.id} = ${contactId} and ${contacts.subscribed} <> ${change.subscribed ? 1 : 0}`,
    )
    .returning()
  if (contact === undefined) return false
  await appendSubscriptionEvent(tx, contact, change)
  return true
}

async function appendSubscriptionEvent(
  tx: Tx,
  contact: Contact,
  { at, reason, emailId }: { at: number; reason?: string; emailId?: string | null },
): Promise<void> {
  await appendEvent(tx, {
    projectId: contact.projectId,
    name: contact.subscribed ? 'contact.subscribed' : 'contact.unsubscribed',
    contactId: contact.id,
    emailId: emailId ?? null,
    data: reason === undefined ? null : { reason },
    at,
  })
}
