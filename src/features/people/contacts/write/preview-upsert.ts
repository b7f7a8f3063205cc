/** What `upsertValidContacts` would do, told without a write. */
import { type AppError, isInvalid } from '../../../../base/errors.ts'
import type { KnownAddresses } from '../read/known-addresses.ts'
import {
  type ContactEntry,
  changedContact,
  type EntryResult,
  newContact,
  type SubscriptionRule,
  toEntryResult,
  weighEntry,
  withoutData,
} from './next-contact.ts'

/** `known`: what is known of the addresses before the entries. An entry that is refused yields its error. */
export function previewContacts(
  rule: SubscriptionRule,
  known: Pick<KnownAddresses, 'contacts' | 'suppressed' | 'left'>,
  entries: readonly ContactEntry[],
): (EntryResult | AppError)[] {
  const contacts = new Map(known.contacts)
  const left = new Set(known.left)
  const preview = (entry: ContactEntry): EntryResult => {
    const { address } = entry.address
    const before = contacts.get(address)
    const wish = weighEntry({ rule, left }, entry, before)
    const contact =
      before === undefined
        ? newContact({ rule, suppressed: known.suppressed }, entry, wish)
        : changedContact(rule, before, { changes: entry.changes, given: wish.given })
    if (wish.isCleared) left.delete(address)
    if (entry.hasLeft === true) left.add(address)
    contacts.set(address, contact)
    return toEntryResult(entry, wish, { before, contact })
  }
  return entries.map((entry) => {
    try {
      return preview(entry)
    } catch (error) {
      if (!isInvalid(error)) throw error
      const reduced = withoutData(entry, error)
      return reduced === undefined ? error : preview(reduced)
    }
  })
}
