/**
 * Gathers the entries of many callers about the contacts of a project and decides their results
 * without a write, so that one statement can write all contacts. A batch takes entries that add a
 * contact, change the data of one, or change nothing. `upsert.ts` writes all other entries: a
 * person who left or was erased, a change of `subscribed`, data that is too large, a contact with
 * much stored data.
 */
import { isInvalid } from '../../../../base/errors.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
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
} from './next-contact.ts'
import { updateByAddress } from './set-subscribed.ts'

export type ContactBatch = {
  /**
   * The contact as it is after the entries so far; undefined if there is no contact, or if its data
   * is too large for a batch.
   */
  current(address: string): Contact | undefined
  /**
   * Takes all entries and returns their results in the same order. If `upsert.ts` must write one of
   * the entries, takes none and returns undefined.
   */
  take(rule: SubscriptionRule, entries: readonly ContactEntry[]): EntryResult[] | undefined
  /** New contacts in their order, as they are after all entries. */
  added(): Contact[]
  /** Contacts that existed, with their new data. */
  changed(): Contact[]
}

type Openings<Plan> = { projectOf(plan: Plan): string; addressesOf(plan: Plan): string[] }

/** The plans of a project, the batch that they share, and the suppressed addresses among theirs. */
type OpenBatch<Plan> = {
  plans: Plan[]
  batch: ContactBatch
  suppressed: ReadonlySet<string>
}

/**
 * Reading, merging and writing this many characters of data takes no longer than the rest of an
 * entry.
 */
const LIGHT_CHARACTERS = 8_000

/** Returns the number of entries with little data that take as long as one entry with this data. */
export function weighData(data: unknown): number {
  return data === undefined ? 1 : JSON.stringify(data).length / LIGHT_CHARACTERS
}

/** Opens a batch for each project of the plans, for all addresses of its plans. Reads only. */
export async function openContactBatches<Plan>(
  tx: Tx,
  plans: readonly Plan[],
  { projectOf, addressesOf }: Openings<Plan>,
): Promise<OpenBatch<Plan>[]> {
  const opened: OpenBatch<Plan>[] = []
  for (const [projectId, own] of Map.groupBy(plans, projectOf)) {
    const addresses = [...new Set(own.flatMap(addressesOf))]
    const known = await findKnownAddresses(tx, projectId, addresses, LIGHT_CHARACTERS)
    const { suppressed } = known
    opened.push({ plans: own, batch: openContactBatch(known), suppressed })
  }
  return opened
}

/** `known`: the facts about all addresses of the entries, as this transaction sees them. */
function openContactBatch(known: KnownAddresses): ContactBatch {
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
export async function writeContactBatches(
  tx: Tx,
  opened: readonly { batch: ContactBatch }[],
): Promise<void> {
  await insertContacts(
    tx,
    opened.flatMap(({ batch }) => batch.added()),
  )
  await tx.executeEach(
    updateByAddress,
    opened.flatMap(({ batch }) => batch.changed()),
  )
}

function weigh(
  { left, withdrawn, erased, large, suppressed }: KnownAddresses,
  rule: SubscriptionRule,
  { entry, before }: { entry: ContactEntry; before: Contact | undefined },
): EntryResult | undefined {
  const { address } = entry.address
  const hasWish = left.has(address) || withdrawn.has(address) || entry.hasLeft === true
  if (hasWish || erased.has(address) || large.has(address)) return undefined
  const wish = weighEntry({ rule, left }, entry, before)
  const contact = orRefused(() => next({ rule, suppressed }, entry, { before, wish }))
  if (contact === undefined) return undefined
  // `upsert.ts` writes the entry: a change of `subscribed` needs an event, and to unsubscribe an
  // unsubscribed contact records a decision of the project.
  const isChange = before !== undefined && (wish.given ?? before.subscribed) !== before.subscribed
  if (isChange || (before !== undefined && wish.given === false)) return undefined
  return toEntryResult(entry, wish, { before, contact })
}

function next(
  { rule, suppressed }: { rule: SubscriptionRule; suppressed: ReadonlySet<string> },
  entry: ContactEntry,
  { before, wish }: { before: Contact | undefined; wish: WeighedEntry },
): Contact {
  if (before === undefined) return makeContact({ rule, suppressed }, entry, wish)
  return changedContact(rule, before, { changes: entry.changes, given: wish.given })
}

/** Returns undefined if `make` throws because data becomes too large. */
function orRefused<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (isInvalid(error)) return undefined
    throw error
  }
}
