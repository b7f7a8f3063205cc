/**
 * Creates or changes contacts by their addresses: a project has one contact per address. A new
 * contact emits no event; a change of `subscribed` does (set-subscribed.ts). A person who left stays
 * unsubscribed, also as a new contact, unless the call is a new wish (`wishes/wishes.ts`).
 */
import { AppError } from '../../../errors.ts'
import type { ParsedAddress } from '../../../mail/address/address.ts'
import { eachOf, jsonItem } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { type Contact, type ContactData, contacts } from '../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { nameSuccessor } from '../../wishes/erased-recipients.ts'
import { clearWish, endWishOfProject, recordWishOfProject } from '../../wishes/wishes.ts'
import { findKnownAddresses, type KnownAddresses } from '../read/known-addresses.ts'
import { mergeData, parseData } from './data.ts'
import { type SubscriptionReason, writeContact } from './set-subscribed.ts'

/** The change that a call makes to all of its contacts. */
type ContactChange = {
  projectId: string
  /** Undefined keeps the state of an existing contact. */
  subscribed: boolean | undefined
  /**
   * The state of a new contact if none is given; a contact with a suppressed address starts
   * unsubscribed.
   */
  subscribedByDefault: boolean
  /**
   * What subscribes people who left: `subscribed: true`, or the default for new contacts too; nothing if
   * absent.
   */
  newWish?: 'explicit' | 'always' | undefined
  /** Why `subscribed` changes, if it does. */
  reason: SubscriptionReason
  at: number
  /** The result of a look-up earlier in this transaction; looked up here if absent. */
  known?: KnownAddresses
}

/** The change of one contact. */
export type ContactEntry = {
  address: ParsedAddress
  /** As `parseData` returns them; null deletes a key. */
  changes: ContactData
  /** Overrides `subscribed` of the `ContactChange`. */
  subscribed?: boolean | undefined
}

type UpsertedContact = {
  contact: Contact
  isNew: boolean
  /** The call would have subscribed the contact, but for the wish of the person. */
  isKeptUnsubscribed: boolean
}

/** The input of `POST /contacts`. */
type ContactInput = {
  projectId: string
  address: ParsedAddress
  /** Undefined keeps the state of an existing contact; a new contact is subscribed. */
  subscribed?: boolean | undefined
  data?: unknown
}

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
 * Inserts rows `[id, address, subscribed, data]`, with the data as JSON text. With one statement per
 * row, SQLite would copy the pages that the triggers change each time.
 */
const insertContacts = statement(
  () => sql`insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
    select ${jsonItem(sql`value`, 0)}, ${parameter('projectId')}, ${jsonItem(sql`value`, 1)},
      ${jsonItem(sql`value`, 2)}, ${jsonItem(sql`value`, 3)}, ${parameter('at')}, ${parameter('at')}
    from ${eachOf(parameter('rows'))}`,
)

/**
 * Creates or changes one contact.
 * @throws AppError VALIDATION_ERROR for data that breaks a limit
 */
export async function upsertContact(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, address, subscribed, data }: ContactInput,
): Promise<UpsertedContact> {
  const { changes } = parseData(data)
  const rule = {
    ...{ subscribed, subscribedByDefault: true },
    ...({ newWish: 'explicit', reason: 'api' } as const),
  }
  const change: ContactChange = { projectId, ...rule, at: now() }
  const [upserted] = await store.write((tx) => upsertContacts(tx, change, [{ address, changes }]))
  if (upserted === undefined) throw new TypeError('one entry gives one contact')
  return upserted
}

/**
 * Creates or changes contacts and returns them in the order of their entries. An address may occur
 * more than once.
 * @throws AppError VALIDATION_ERROR for data that becomes too large
 */
export async function upsertContacts(
  tx: Tx,
  change: ContactChange,
  entries: readonly ContactEntry[],
): Promise<UpsertedContact[]> {
  const batch = await openBatch(tx, change, entries)
  const upserted: UpsertedContact[] = []
  for (const entry of entries) {
    upserted.push(await upsertEntry(batch, entry))
    await endSlice(batch)
  }
  await insertNew(batch)
  return upserted
}

/** As `upsertContacts`, but an entry whose data becomes too large yields its error instead. */
export async function upsertValidContacts(
  tx: Tx,
  change: ContactChange,
  entries: readonly ContactEntry[],
): Promise<(UpsertedContact | AppError)[]> {
  const batch = await openBatch(tx, change, entries)
  const results: (UpsertedContact | AppError)[] = []
  for (const entry of entries) {
    try {
      results.push(await upsertEntry(batch, entry))
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error
      results.push(error)
    }
    await endSlice(batch)
  }
  await insertNew(batch)
  return results
}

type UpsertBatch = {
  tx: Tx
  change: ContactChange
  /** Existing and new contacts by address, as they are after the entries so far. */
  contacts: Map<string, Contact>
  /** New contacts that are not inserted yet, by address. */
  uninserted: Map<string, Contact>
  suppressed: ReadonlySet<string>
  /** The addresses whose owners left, as they are after the entries so far. */
  left: Set<string>
  withdrawn: ReadonlySet<string>
  erased: ReadonlySet<string>
  /** Entries since the slice began. */
  sliceSize: number
}

async function openBatch(
  tx: Tx,
  change: ContactChange,
  entries: readonly ContactEntry[],
): Promise<UpsertBatch> {
  const addresses = entries.map(({ address }) => address.address)
  const { contacts, suppressed, left, withdrawn, erased } =
    change.known ?? (await findKnownAddresses(tx, change.projectId, addresses))
  const maps = { contacts: new Map(contacts), uninserted: new Map<string, Contact>() }
  const facts = { suppressed, left: new Set(left), withdrawn, erased }
  return { tx, change, ...maps, ...facts, sliceSize: 0 }
}

/** @throws AppError VALIDATION_ERROR before anything is written */
async function upsertEntry(batch: UpsertBatch, entry: ContactEntry): Promise<UpsertedContact> {
  const { contacts, uninserted } = batch
  const { address } = entry.address
  const before = contacts.get(address)
  const wish = weigh(batch, entry, before)
  const isKeptUnsubscribed = wish.isKept && before?.subscribed !== true
  if (before === undefined) {
    const contact = newContact(batch, entry, wish)
    if (wish.isCleared) await clear(batch, address)
    if (contact.subscribed) await endWithdrawal(batch, address)
    uninserted.set(address, contact)
    contacts.set(address, contact)
    return { contact, isNew: true, isKeptUnsubscribed }
  }
  if (uninserted.has(address)) await insertNew(batch)
  const contact = await changeContact(batch, before, { entry, wish })
  if (contact.subscribed) await endWithdrawal(batch, address)
  contacts.set(address, contact)
  return { contact, isNew: false, isKeptUnsubscribed }
}

type Weighed = {
  /** The state that the entry gives; undefined keeps it, or is the default of a new contact. */
  given: boolean | undefined
  /** The person left, and stays unsubscribed. */
  isKept: boolean
  /** The person left, and the entry is a new wish. */
  isCleared: boolean
}

function weigh(
  { change, left }: UpsertBatch,
  { address: { address }, subscribed: given = change.subscribed }: ContactEntry,
  before: Contact | undefined,
): Weighed {
  const wouldSubscribe = given ?? (before === undefined && change.subscribedByDefault)
  if (!wouldSubscribe || !left.has(address)) return { given, isKept: false, isCleared: false }
  const isNewWish = change.newWish === 'always' || (change.newWish === 'explicit' && given === true)
  if (isNewWish) return { given, isKept: false, isCleared: true }
  return { given: before === undefined ? false : undefined, isKept: true, isCleared: false }
}

async function clear({ tx, change, left }: UpsertBatch, address: string): Promise<void> {
  await clearWish(tx, { projectId: change.projectId, address })
  left.delete(address)
}

/** Who is subscribed again is not unsubscribed by the project any more. */
async function endWithdrawal(
  { tx, change, withdrawn }: UpsertBatch,
  address: string,
): Promise<void> {
  if (withdrawn.has(address)) await endWishOfProject(tx, { projectId: change.projectId, address })
}

function newContact(
  { change, suppressed }: UpsertBatch,
  { address: { address }, changes }: ContactEntry,
  { given }: Weighed,
): Contact {
  return {
    id: newId(),
    projectId: change.projectId,
    address,
    subscribed: given ?? (change.subscribedByDefault && !suppressed.has(address)),
    data: mergeData(null, changes),
    createdAt: change.at,
    updatedAt: change.at,
  }
}

async function changeContact(
  batch: UpsertBatch,
  before: Contact,
  { entry: { changes }, wish: { given, isCleared } }: { entry: ContactEntry; wish: Weighed },
): Promise<Contact> {
  const { tx, change } = batch
  const data = mergeData(before.data, changes)
  const subscribed = given ?? before.subscribed
  if (isCleared) await clear(batch, before.address)
  if (given === false && !before.subscribed) {
    await recordWishOfProject(tx, { contactId: before.id, at: change.at })
  }
  if (data === before.data && subscribed === before.subscribed) return before
  const contact = { ...before, data, subscribed, updatedAt: change.at }
  await writeContact(tx, { before, contact, reason: change.reason })
  return contact
}

/** Inserts the new contacts at the end of a slice. In a heavy write, other work runs next. */
async function endSlice(batch: UpsertBatch): Promise<void> {
  batch.sliceSize += 1
  if (batch.sliceSize < SLICE) return
  batch.sliceSize = 0
  await insertNew(batch)
  await batch.tx.yieldToLoop()
}

async function insertNew({ tx, change, uninserted, erased }: UpsertBatch): Promise<void> {
  const [first, ...others] = uninserted.values()
  if (first === undefined) return
  for (const { id: contactId, address, projectId } of uninserted.values()) {
    if (erased.has(address)) await nameSuccessor(tx, { projectId, address, contactId })
  }
  if (others.length === 0) await tx.execute(insertContact, first)
  else {
    const { projectId, at } = change
    const rows = [first, ...others].map(toRow)
    await tx.execute(insertContacts, { projectId, at, rows: JSON.stringify(rows) })
  }
  uninserted.clear()
}

function toRow({ id, address, subscribed, data }: Contact) {
  return [id, address, subscribed, data === null ? null : JSON.stringify(data)]
}
