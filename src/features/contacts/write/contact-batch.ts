/**
 * What the entries of many callers make of the contacts of a project, decided without a write, so that one
 * statement can write all of them. A batch takes entries that add a contact, give one other data, or
 * change nothing. It takes none that needs more: of a person who left or was erased, a change of `subscribed`, data
 * that is too large. `upsert.ts` writes those.
 */
import { isInvalid } from '../../../errors.ts'
import type { Contact } from '../../../store/schema/contacts.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { KnownAddresses } from '../read/known-addresses.ts'
import { insertContacts } from './insert-contacts.ts'
import {
  type ContactEntry,
  changedContact,
  type EntryResult,
  newContact,
  type SubscriptionRule,
  toEntryResult,
  type Weighed,
  weighEntry,
} from './next-contact.ts'
import { updateByAddress } from './set-subscribed.ts'

export type ContactBatch = {
  /** The contact as it is after the entries so far. */
  current(address: string): Contact | undefined
  /** The results in the order of the entries; undefined, and no entry is taken, if one of them needs more. */
  take(rule: SubscriptionRule, entries: readonly ContactEntry[]): EntryResult[] | undefined
  /** New contacts in their order, as they are after all entries. */
  added(): Contact[]
  /** Contacts that existed, with their new data. */
  changed(): Contact[]
}

/** `known`: of all addresses of the entries, as of this transaction. */
export function openContactBatch(known: KnownAddresses): ContactBatch {
  const added = new Map<string, Contact>()
  const changed = new Map<string, Contact>()

  function current(address: string): Contact | undefined {
    return added.get(address) ?? changed.get(address) ?? known.contacts.get(address)
  }

  function put(contact: Contact): void {
    const stored = known.contacts.get(contact.address)
    if (stored === undefined) added.set(contact.address, contact)
    else if (contact !== stored) changed.set(contact.address, contact)
  }

  return {
    current,
    take(rule, entries) {
      const results: EntryResult[] = []
      for (const entry of entries) {
        const { address } = entry.address
        const before = results.findLast(({ contact }) => contact.address === address)?.contact
        const result = weigh(known, rule, { entry, before: before ?? current(address) })
        if (result === undefined) return undefined
        results.push(result)
      }
      for (const { contact } of results) put(contact)
      return results
    },
    added: () => [...added.values()],
    changed: () => [...changed.values()],
  }
}

/** Writes what the batches have taken. */
export async function writeContactBatches(tx: Tx, batches: readonly ContactBatch[]): Promise<void> {
  await insertContacts(
    tx,
    batches.flatMap((batch) => batch.added()),
  )
  await tx.executeEach(
    updateByAddress,
    batches.flatMap((batch) => batch.changed()),
  )
}

function weigh(
  { left, withdrawn, erased, suppressed }: KnownAddresses,
  rule: SubscriptionRule,
  { entry, before }: { entry: ContactEntry; before: Contact | undefined },
): EntryResult | undefined {
  const { address } = entry.address
  const hasWish = left.has(address) || withdrawn.has(address) || entry.hasLeft === true
  if (hasWish || erased.has(address)) return undefined
  const wish = weighEntry({ rule, left }, entry, before)
  const contact = orRefused(() => next({ rule, suppressed }, entry, { before, wish }))
  if (contact === undefined) return undefined
  // A change is an event, and unsubscribing again is a decision of the project.
  const isChange = before !== undefined && (wish.given ?? before.subscribed) !== before.subscribed
  if (isChange || (before !== undefined && wish.given === false)) return undefined
  return toEntryResult(entry, wish, { before, contact })
}

function next(
  { rule, suppressed }: { rule: SubscriptionRule; suppressed: ReadonlySet<string> },
  entry: ContactEntry,
  { before, wish }: { before: Contact | undefined; wish: Weighed },
): Contact {
  if (before === undefined) return newContact({ rule, suppressed }, entry, wish)
  return changedContact(rule, before, { changes: entry.changes, given: wish.given })
}

/** Undefined in place of the error for data that becomes too large. */
function orRefused<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (isInvalid(error)) return undefined
    throw error
  }
}
