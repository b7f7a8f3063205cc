/**
 * A contact comes into being, or changes, by being written to: one row per address and project.
 * Creating one emits nothing; a flip of `subscribed` on an existing one emits
 * `contact.subscribed` or `contact.unsubscribed` in the same transaction.
 */
import { AppError } from '../../../errors.ts'
import type { ParsedAddress } from '../../../mail/address/address.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { type Contact, type ContactData, contacts } from '../../../store/schema/contacts.ts'
import type { SuppressionReason } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { appendEvent } from '../../events/append.ts'
import { mergeData } from './data.ts'
import { noteWish } from './unsubscribe-wish.ts'

export type ContactChange = {
  projectId: string
  /** Undefined keeps an existing contact's state. */
  subscribed: boolean | undefined
  /** The state of a contact that did not exist and for whom none is given. */
  subscribedByDefault: boolean
  /** Why `subscribed` flips, where it does. */
  reason: SubscriptionReason
  at: number
}

/** One of the contacts that a change is about, and what of its data changes. */
export type ContactEntry = {
  address: ParsedAddress
  /** As `parseData` made them; null deletes a key. */
  changes: ContactData
  /** In place of the change's own, where entries differ. */
  subscribed?: boolean | undefined
}

/**
 * Why `subscribed` flipped, in the event's `data.reason`. The contact's own wish: on a hosted page,
 * by one click in its mail program (RFC 8058), by mail to an unsubscribe address. `api`: a public
 * contact call, or a request of the project about this contact. `manual`: bulk work, or an operator
 * suppressed the address. `import`: a row of a file. The others: the address bounced for good, its
 * owner complained.
 */
export type SubscriptionReason =
  | 'page'
  | 'one-click'
  | 'mail'
  | 'api'
  | 'bounce'
  | 'complaint'
  | 'manual'
  | 'import'

/** Of a flip that a suppression led to. */
export const suppressionReasons: Record<SuppressionReason, SubscriptionReason> = {
  HARD_BOUNCE: 'bounce',
  STRIKES: 'bounce',
  COMPLAINT: 'complaint',
  MANUAL: 'manual',
}

export type UpsertedContact = { contact: Contact; isNew: boolean }

/** Rows that one statement writes. */
const SLICE = 100

const insertContact = statement((db) =>
  db.insert(contacts).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    address: parameter('address'),
    subscribed: parameter('subscribed'),
    data: parameter('data'),
    createdAt: parameter('createdAt'),
    updatedAt: parameter('updatedAt'),
  }),
)

/**
 * Of some, each `[id, address, subscribed, data]` with the data as JSON text. For one statement each,
 * SQLite would copy every time whatever the triggers change.
 */
const insertContacts = statement(
  () => sql`insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
    select value ->> 0, ${parameter('projectId')}, value ->> 1, value ->> 2, value ->> 3,
      ${parameter('at')}, ${parameter('at')}
    from json_each(${parameter('rows')})`,
)

/** By what it was looked up with: the way to it has been read then. */
export const updateByAddress = statement((db) =>
  db
    .update(contacts)
    .set({
      data: parameter('data'),
      subscribed: parameter('subscribed'),
      updatedAt: parameter('updatedAt'),
    })
    .where(
      and(
        eq(contacts.projectId, parameter('projectId')),
        eq(contacts.address, parameter('address')),
      ),
    ),
)

const updateSubscribed = statement((db) =>
  db
    .update(contacts)
    .set({ subscribed: parameter('subscribed'), updatedAt: parameter('at') })
    .where(
      sql`${contacts.id} = ${parameter('id')} and ${contacts.subscribed} = ${parameter('from')}`,
    )
    .returning({ projectId: contacts.projectId }),
)

type Known = {
  /** By address, those that exist as the transaction sees it. */
  found: ReadonlyMap<string, Contact>
  /** Addresses that get no mail: their contacts do not begin as subscribed by default. */
  suppressed?: ReadonlySet<string>
}

/**
 * Writes to all of them, in their order (an address may come twice), and gives the contacts in that
 * order. @throws AppError VALIDATION_ERROR for data that becomes too large
 */
export async function upsertContacts(
  tx: Tx,
  change: ContactChange & Known,
  entries: readonly ContactEntry[],
): Promise<UpsertedContact[]> {
  const upserting = begin(tx, change)
  const upserted: UpsertedContact[] = []
  for (const entry of entries) {
    upserted.push(await upsertContact(upserting, entry))
    await endSlice(upserting)
  }
  await insertDrafts(upserting)
  return upserted
}

/** As `upsertContacts`; an entry whose data would become too large gives why, and hinders no other. */
export async function upsertEach(
  tx: Tx,
  change: ContactChange & Known,
  entries: readonly ContactEntry[],
): Promise<(UpsertedContact | AppError)[]> {
  const upserting = begin(tx, change)
  const outcomes: (UpsertedContact | AppError)[] = []
  for (const entry of entries) {
    try {
      outcomes.push(await upsertContact(upserting, entry))
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error
      outcomes.push(error)
    }
    await endSlice(upserting)
  }
  await insertDrafts(upserting)
  return outcomes
}

type Upserting = {
  tx: Tx
  change: ContactChange & Known
  known: Map<string, Contact>
  /** New ones that are not written yet, by address. */
  drafts: Map<string, Contact>
  /** Entries since others last had their turn. */
  sinceTurn: number
}

function begin(tx: Tx, change: ContactChange & Known): Upserting {
  return { tx, change, known: new Map(change.found), drafts: new Map(), sinceTurn: 0 }
}

/** Notes the contact in `known`. @throws AppError VALIDATION_ERROR before anything is written */
async function upsertContact(upserting: Upserting, entry: ContactEntry): Promise<UpsertedContact> {
  const { tx, change, known, drafts } = upserting
  const { address } = entry.address
  const before = known.get(address)
  if (before === undefined) {
    const contact = draftContact(change, entry)
    drafts.set(address, contact)
    known.set(address, contact)
    return { contact, isNew: true }
  }
  if (drafts.has(address)) await insertDrafts(upserting)
  const contact = await changeContact(tx, before, change, entry)
  known.set(address, contact)
  return { contact, isNew: false }
}

function draftContact(
  change: ContactChange & Known,
  { address, changes, subscribed = change.subscribed }: ContactEntry,
): Contact {
  const isByDefault = change.subscribedByDefault && !change.suppressed?.has(address.address)
  return {
    id: newId(),
    projectId: change.projectId,
    address: address.address,
    subscribed: subscribed ?? isByDefault,
    data: mergeData(null, changes),
    createdAt: change.at,
    updatedAt: change.at,
  }
}

/** After so many entries new contacts are written, and a heavy write lets others have their turn. */
async function endSlice(upserting: Upserting): Promise<void> {
  upserting.sinceTurn += 1
  if (upserting.sinceTurn < SLICE) return
  upserting.sinceTurn = 0
  await insertDrafts(upserting)
  await upserting.tx.othersTurn()
}

async function insertDrafts({ tx, change, drafts }: Upserting): Promise<void> {
  const [first, ...others] = drafts.values()
  if (first === undefined) return
  if (others.length === 0) await tx.execute(insertContact, first)
  else {
    const { projectId, at } = change
    const rows = [first, ...others].map(toRow)
    await tx.execute(insertContacts, { projectId, at, rows: JSON.stringify(rows) })
  }
  drafts.clear()
}

function toRow({ id, address, subscribed, data }: Contact) {
  return [id, address, subscribed, data === null ? null : JSON.stringify(data)]
}

async function changeContact(
  tx: Tx,
  known: Contact,
  change: ContactChange,
  { changes, subscribed: given = change.subscribed }: ContactEntry,
): Promise<Contact> {
  const data = mergeData(known.data, changes)
  const subscribed = given ?? known.subscribed
  if (given === false && !known.subscribed) {
    await noteWish(tx, { contactId: known.id, at: change.at })
  }
  if (data === known.data && subscribed === known.subscribed) return known
  const contact = { ...known, data, subscribed, updatedAt: change.at }
  await keepContact(tx, { before: known, contact, reason: change.reason })
  return contact
}

type Kept = { before: Contact; contact: Contact; reason: SubscriptionReason }

/** Writes what may differ, but for the address; a flip of `subscribed` emits its event. */
export async function keepContact(tx: Tx, { before, contact, reason }: Kept): Promise<void> {
  await tx.execute(updateByAddress, contact)
  if (contact.subscribed === before.subscribed) return
  await appendSubscriptionEvent(tx, contact, { at: contact.updatedAt, reason })
}

type SubscriptionChange = {
  subscribed: boolean
  at: number
  reason: SubscriptionReason
  /** What led to it, and the campaign that it is counted for. */
  emailId: string | null
  campaignId?: string | null
}

/** Sets `subscribed` of one contact; an event only when that is a change. */
export async function setSubscribed(
  tx: Tx,
  contactId: string,
  change: SubscriptionChange,
): Promise<boolean> {
  const { subscribed, at, reason } = change
  const from = subscribed ? 0 : 1
  const changed = await tx.find(updateSubscribed, { id: contactId, subscribed, at, from })
  if (changed === undefined) {
    if (!subscribed && reason !== 'bounce') await noteWish(tx, { contactId, at })
    return false
  }
  const contact = { id: contactId, projectId: changed.projectId, subscribed }
  await appendSubscriptionEvent(tx, contact, change)
  return true
}

type Cause = Pick<SubscriptionChange, 'at' | 'reason' | 'campaignId'> & {
  emailId?: string | null
}

async function appendSubscriptionEvent(
  tx: Tx,
  contact: Pick<Contact, 'id' | 'projectId' | 'subscribed'>,
  { at, reason, emailId, campaignId }: Cause,
): Promise<void> {
  await appendEvent(tx, {
    projectId: contact.projectId,
    name: contact.subscribed ? 'contact.subscribed' : 'contact.unsubscribed',
    contactId: contact.id,
    emailId: emailId ?? null,
    data: { reason, ...(campaignId ? { campaignId } : {}) },
    at,
  })
}
