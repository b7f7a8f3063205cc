/** What the rows of a dry run would do with contacts: each sees what the rows before it would have done. */
import type { Contact } from '../../../store/schema/contacts.ts'
import type { Reader } from '../../../store/store.ts'
import { findKnownAddresses, type KnownAddresses } from '../contacts/read/known-addresses.ts'
import type { ContactEntry, SubscriptionRule } from '../contacts/write/next-contact.ts'
import { previewContacts } from '../contacts/write/preview-upsert.ts'
import type { RowResult } from './run.ts'

type Rows = { entries: readonly ContactEntry[]; at: number }

/** The memory that the returned function keeps grows with the file, which has at most 5 MB. */
export function createContactPreview(rule: Omit<SubscriptionRule, 'at'>) {
  /** What earlier rows would have made of addresses. */
  const seen = new Map<string, SeenAddress>()
  return async (reader: Reader, { entries, at }: Rows): Promise<RowResult[]> => {
    const { projectId } = rule
    const addresses = entries.map(({ address }) => address.address)
    const known = await findKnownAddresses(reader, projectId, addresses)
    const results = previewContacts({ ...rule, at }, addSeen(known, { addresses, seen }), entries)
    for (const [index, result] of results.entries()) {
      if (!('isNew' in result)) continue
      const { address, subscribed } = result.contact
      const hasLeft = entries[index]?.hasLeft === true
      if (!hasLeft && !result.isNew && result.becomes === undefined) continue
      const wasLeft = !subscribed && seen.get(address)?.hasLeft === true
      seen.set(address, { subscribed, hasLeft: hasLeft || wasLeft })
    }
    return results
  }
}

/** `hasLeft`: a row would have recorded a wish. */
type SeenAddress = { subscribed: boolean; hasLeft: boolean }
type Seen = { addresses: readonly string[]; seen: ReadonlyMap<string, SeenAddress> }

function addSeen(known: KnownAddresses, { addresses, seen }: Seen): KnownAddresses {
  const contacts = new Map(known.contacts)
  const left = new Set(known.left)
  for (const address of addresses) {
    const before = seen.get(address)
    if (before === undefined) continue
    const { subscribed, hasLeft } = before
    contacts.set(address, { ...(contacts.get(address) ?? unknownContact(address)), subscribed })
    if (hasLeft) left.add(address)
    else if (subscribed) left.delete(address)
  }
  return { ...known, contacts, left }
}

function unknownContact(address: string): Contact {
  const at = { createdAt: 0, updatedAt: 0 }
  return { id: '', projectId: '', address, subscribed: false, data: null, ...at }
}
