/**
 * Writing to contacts by their addresses: known ones change, others come into being. `saveContacts`
 * is what every path but sending does within its transaction; `saveContact` is POST /contacts.
 */
import type { AppError } from '../../../errors.ts'
import type { ParsedAddress } from '../../../mail/address/address.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { findKnownAddresses } from '../read/known-addresses.ts'
import { parseData } from './data.ts'
import {
  type ContactChange,
  type ContactEntry,
  type UpsertedContact,
  upsertContacts,
  upsertEach,
} from './upsert.ts'

export type NewContact = {
  projectId: string
  address: ParsedAddress
  /** Undefined keeps an existing contact's state; a new one is subscribed. */
  subscribed?: boolean | undefined
  data?: unknown
}

/**
 * Looks them up and writes to them, in their order; an address may come twice. A new contact whose
 * address the project does not send to is not subscribed, unless `subscribed` says so.
 * @throws AppError VALIDATION_ERROR for data that breaks a limit
 */
export async function saveContacts(
  tx: Tx,
  change: ContactChange,
  entries: readonly ContactEntry[],
): Promise<UpsertedContact[]> {
  return upsertContacts(tx, await withKnown(tx, change, entries), entries)
}

/** As `saveContacts`; an entry whose data breaks a limit gives why, and hinders no other. */
export async function saveEach(
  tx: Tx,
  change: ContactChange,
  entries: readonly ContactEntry[],
): Promise<(UpsertedContact | AppError)[]> {
  return upsertEach(tx, await withKnown(tx, change, entries), entries)
}

async function withKnown(tx: Tx, change: ContactChange, entries: readonly ContactEntry[]) {
  const addresses = entries.map(({ address }) => address.address)
  const { contacts: found, suppressed } = await findKnownAddresses(tx, change.projectId, addresses)
  return { ...change, found, suppressed }
}

/** @throws AppError VALIDATION_ERROR for data that breaks a limit */
export async function saveContact(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, address, subscribed, data }: NewContact,
): Promise<UpsertedContact> {
  const { changes } = parseData(data)
  const at = now()
  const change: ContactChange = {
    projectId,
    subscribed,
    subscribedByDefault: true,
    reason: 'api',
    at,
  }
  const [saved] = await store.write((tx) => saveContacts(tx, change, [{ address, changes }]))
  if (saved === undefined) throw new TypeError('one entry gives one contact')
  return saved
}
