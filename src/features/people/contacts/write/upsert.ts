/**
 * Creates or changes contacts by their addresses: a project has one contact per address. A new
 * contact emits no event; a change of `subscribed` does (set-subscribed.ts). A person who left stays
 * unsubscribed, also as a new contact, unless the call is a new wish (`wishes/wishes.ts`).
 */
import { type AppError, isInvalid } from '../../../../base/errors.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { nameSuccessor } from '../../wishes/erased-recipients.ts'
import {
  clearWish,
  endWishOfProject,
  recordWishes,
  recordWishOfProject,
} from '../../wishes/wishes.ts'
import { findKnownAddresses, type KnownAddresses } from '../read/known-addresses.ts'
import { insertContacts } from './insert-contacts.ts'
import {
  type ContactEntry,
  changedContact,
  type EntryResult,
  makeContact,
  type SubscriptionRule,
  toEntryResult,
  type WeighedEntry,
  weighEntry,
  withoutData,
} from './next-contact.ts'
import { type SubscriptionReason, writeContact } from './set-subscribed.ts'

/** The change that a call makes to all of its contacts. */
type ContactChange = SubscriptionRule & {
  /** Why `subscribed` changes, if it does. */
  reason: SubscriptionReason
  /** The result of a look-up earlier in this transaction; looked up here if absent. */
  known?: KnownAddresses
}

/** The number of entries whose new contacts one statement inserts. */
const UPSERT_SLICE = 100

/**
 * Creates or changes contacts and returns them in the order of their entries. An address may occur
 * more than once.
 * @throws AppError VALIDATION_ERROR for data that becomes too large
 */
export async function upsertContacts(
  tx: Tx,
  change: ContactChange,
  entries: readonly ContactEntry[],
): Promise<EntryResult[]> {
  const batch = await openBatch(tx, change, entries)
  const upserted: EntryResult[] = []
  for (const entry of entries) {
    upserted.push(await upsertEntry(batch, entry))
    await endSlice(batch)
  }
  await flush(batch)
  return upserted
}

/**
 * As `upsertContacts`, but an entry whose data becomes too large yields its error instead. An entry
 * that unsubscribes is applied without its data, and its result has the error as `refusal`.
 */
export async function upsertValidContacts(
  tx: Tx,
  change: ContactChange,
  entries: readonly ContactEntry[],
): Promise<(EntryResult | AppError)[]> {
  const batch = await openBatch(tx, change, entries)
  const results: (EntryResult | AppError)[] = []
  for (const entry of entries) {
    results.push(await upsertValidEntry(batch, entry))
    await endSlice(batch)
  }
  await flush(batch)
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
  /** The addresses in `left` whose wish is not recorded yet. */
  unrecorded: Set<string>
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
  const facts = {
    suppressed,
    left: new Set(left),
    unrecorded: new Set<string>(),
    withdrawn,
    erased,
  }
  return { tx, change, ...maps, ...facts, sliceSize: 0 }
}

async function upsertValidEntry(
  batch: UpsertBatch,
  entry: ContactEntry,
): Promise<EntryResult | AppError> {
  try {
    return await upsertEntry(batch, entry)
  } catch (error) {
    if (!isInvalid(error)) throw error
    const reduced = withoutData(entry, error)
    return reduced === undefined ? error : upsertEntry(batch, reduced)
  }
}

/** @throws AppError VALIDATION_ERROR before anything is written */
async function upsertEntry(batch: UpsertBatch, entry: ContactEntry): Promise<EntryResult> {
  const { contacts, uninserted, change: rule, left, suppressed } = batch
  const { address } = entry.address
  const before = contacts.get(address)
  const wish = weighEntry({ rule, left }, entry, before)
  if (before === undefined) {
    const contact = makeContact({ rule, suppressed }, entry, wish)
    if (wish.isCleared) await clear(batch, address)
    if (contact.subscribed) await endWithdrawal(batch, address)
    uninserted.set(address, contact)
    contacts.set(address, contact)
    noteWish(batch, entry)
    return toEntryResult(entry, wish, { before, contact })
  }
  if (uninserted.has(address)) await insertNew(batch)
  const contact = await changeContact(batch, before, { entry, wish })
  if (contact.subscribed) await endWithdrawal(batch, address)
  contacts.set(address, contact)
  noteWish(batch, entry)
  return toEntryResult(entry, wish, { before, contact })
}

function noteWish({ left, unrecorded }: UpsertBatch, { address, hasLeft }: ContactEntry): void {
  if (hasLeft !== true || left.has(address.address)) return
  left.add(address.address)
  unrecorded.add(address.address)
}

async function clear(
  { tx, change, left, unrecorded }: UpsertBatch,
  address: string,
): Promise<void> {
  await clearWish(tx, { projectId: change.projectId, address })
  left.delete(address)
  unrecorded.delete(address)
}

/** Deletes the project's own decision to unsubscribe, because the contact is subscribed again. */
async function endWithdrawal(
  { tx, change, withdrawn }: UpsertBatch,
  address: string,
): Promise<void> {
  if (withdrawn.has(address)) await endWishOfProject(tx, { projectId: change.projectId, address })
}

async function changeContact(
  batch: UpsertBatch,
  before: Contact,
  { entry, wish: { given, isCleared } }: { entry: ContactEntry; wish: WeighedEntry },
): Promise<Contact> {
  const { tx, change } = batch
  const contact = changedContact(change, before, { changes: entry.changes, given })
  if (isCleared) await clear(batch, before.address)
  if (given === false && !before.subscribed && entry.hasLeft !== true) {
    await recordWishOfProject(tx, { contactId: before.id, at: change.at })
  }
  if (contact !== before) await writeContact(tx, { before, contact, reason: change.reason })
  return contact
}

/**
 * Counts an entry. At the end of a slice, inserts its new contacts; in a heavy write, other work
 * then runs before the next slice.
 */
async function endSlice(batch: UpsertBatch): Promise<void> {
  batch.sliceSize += 1
  if (batch.sliceSize < UPSERT_SLICE) return
  batch.sliceSize = 0
  await flush(batch)
  await batch.tx.yieldToLoop()
}

async function flush(batch: UpsertBatch): Promise<void> {
  await insertNew(batch)
  const { tx, change, unrecorded } = batch
  if (unrecorded.size === 0) return
  const { projectId, at } = change
  await recordWishes(tx, { projectId, addresses: [...unrecorded], kind: 'unknown', at })
  unrecorded.clear()
}

async function insertNew({ tx, uninserted, erased }: UpsertBatch): Promise<void> {
  for (const { id: contactId, address, projectId } of uninserted.values()) {
    if (erased.has(address)) await nameSuccessor(tx, { projectId, address, contactId })
  }
  await insertContacts(tx, [...uninserted.values()])
  uninserted.clear()
}
