/**
 * Computes the state of a contact after an entry, without a database: `upsert.ts` writes this
 * state, and a dry run of an import reports it.
 */
import { type AppError, isInvalid } from '../../../../base/errors.ts'
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import { newId } from '../../../../store/ids.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { ContactData } from '../../../../store/schema/json-values.ts'
import type { KnownAddresses } from '../read/known-addresses.ts'
import { mergeData } from './data.ts'

/** How a call treats the subscription of all its contacts. */
export type SubscriptionRule = {
  projectId: string
  /** The state that the call gives to its contacts; undefined if the call gives none. */
  subscribed: boolean | undefined
  /**
   * The state of a new contact if neither the call nor the entry gives one. A contact with a
   * suppressed address then starts unsubscribed.
   */
  subscribedByDefault: boolean
  /**
   * Which calls subscribe people who left. `explicit`: a call with `subscribed: true`; `always`:
   * also a call that creates a contact subscribed by default; absent: none.
   */
  newWish?: 'explicit' | 'always' | undefined
  at: number
}

/** The change of one contact. */
export type ContactEntry = {
  address: ParsedAddress
  /** As `parseData` returns them; null deletes a key. */
  changes: ContactData
  /** Overrides `subscribed` of the rule. */
  subscribed?: boolean | undefined
  /** The person left, as another service or the project says: a wish is recorded. Goes with `subscribed: false`. */
  hasLeft?: boolean
  /**
   * Another service says that the person gets mail. This does not subscribe an existing contact.
   */
  getsMailElsewhere?: boolean
  /**
   * Another entry of the same work unsubscribes the person, so this one subscribes nobody: neither by `subscribed`
   * nor by a default.
   */
  isWithheld?: boolean
  /** Why the data of this entry, which unsubscribes, was refused and left out. */
  refusal?: AppError
}

/** An entry together with the wish of its person. */
export type WeighedEntry = {
  /**
   * The state that the entry gives. If undefined, an existing contact keeps its state, and a new
   * one gets the default.
   */
  given: boolean | undefined
  /**
   * The person stays unsubscribed, although the entry would subscribe, or another service sends the
   * person mail.
   */
  isKept: boolean
  /** The entry clears the wish of a person who left: it is a new wish. */
  isCleared: boolean
  /** The contact exists and stays subscribed, although new contacts are unsubscribed by default. */
  staysSubscribed: boolean
  /** The contact exists, and the entry leaves it unsubscribed. */
  staysUnsubscribed: boolean
}

/** What an entry does with its contact. */
export type EntryResult = {
  contact: Contact
  isNew: boolean
  /** As `isKept` in `WeighedEntry`, and the contact was not subscribed before. */
  isKeptUnsubscribed: boolean
  /** As in `WeighedEntry`. */
  staysSubscribed: boolean
  staysUnsubscribed: boolean
  /**
   * The new value of `subscribed`, if the entry created the contact or changed the value; otherwise
   * undefined.
   */
  becomes: boolean | undefined
  /** The `refusal` of the entry. */
  refusal?: AppError
}

/**
 * Decides what an entry does to the subscription of its contact. `left`: the addresses whose owners
 * left.
 */
export function weighEntry(
  { rule, left }: { rule: SubscriptionRule; left: ReadonlySet<string> },
  entry: ContactEntry,
  before: Contact | undefined,
): WeighedEntry {
  if (entry.isWithheld === true) return weighWithheld(rule, entry, before)
  const { subscribed: given = rule.subscribed, getsMailElsewhere } = entry
  const { address } = entry.address
  const wouldSubscribe = given ?? (before === undefined && rule.subscribedByDefault)
  const staysSubscribed =
    given === undefined && before?.subscribed === true && !rule.subscribedByDefault
  const staysUnsubscribed = given === undefined && before?.subscribed === false
  const isKept = staysUnsubscribed && getsMailElsewhere === true
  const weighed = { given, isKept, isCleared: false, staysSubscribed, staysUnsubscribed }
  if (!wouldSubscribe || !left.has(address)) return weighed
  const isNewWish = rule.newWish === 'always' || (rule.newWish === 'explicit' && given === true)
  if (isNewWish) return { ...weighed, isCleared: true }
  return { ...weighed, given: before === undefined ? false : undefined, isKept: true }
}

/** @throws AppError VALIDATION_ERROR for data that becomes too large */
export function makeContact(
  { rule, suppressed }: { rule: SubscriptionRule; suppressed: ReadonlySet<string> },
  { address: { address }, changes }: ContactEntry,
  { given }: WeighedEntry,
): Contact {
  return {
    id: newId(),
    projectId: rule.projectId,
    address,
    subscribed: given ?? (rule.subscribedByDefault && !suppressed.has(address)),
    data: mergeData(null, changes),
    createdAt: rule.at,
    updatedAt: rule.at,
  }
}

/** Returns the same contact if nothing changes. @throws AppError VALIDATION_ERROR, as `makeContact` */
export function changedContact(
  { at }: Pick<SubscriptionRule, 'at'>,
  before: Contact,
  { changes, given }: Pick<ContactEntry, 'changes'> & Pick<WeighedEntry, 'given'>,
): Contact {
  const data = mergeData(before.data, changes)
  const subscribed = given ?? before.subscribed
  if (data === before.data && subscribed === before.subscribed) return before
  return { ...before, data, subscribed, updatedAt: at }
}

/** `before` and `contact`: the contact before the entry and after it. */
export function toEntryResult(
  { refusal }: ContactEntry,
  { isKept, staysSubscribed, staysUnsubscribed }: WeighedEntry,
  { before, contact }: { before: Contact | undefined; contact: Contact },
): EntryResult {
  return {
    contact,
    isNew: before === undefined,
    isKeptUnsubscribed: isKept && before?.subscribed !== true,
    staysSubscribed,
    staysUnsubscribed,
    ...(refusal === undefined ? {} : { refusal }),
    becomes: before?.subscribed === contact.subscribed ? undefined : contact.subscribed,
  }
}

/** Returns an entry that unsubscribes without its refused data; undefined for any other entry. */
export function withoutData(entry: ContactEntry, refusal: AppError): ContactEntry | undefined {
  return entry.subscribed === false ? { ...entry, changes: {}, refusal } : undefined
}

/**
 * Returns the results that `upsertValidContacts` would give, without a write. `known`: the facts
 * about the addresses before the entries. An entry that is refused yields its error.
 */
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
        ? makeContact({ rule, suppressed: known.suppressed }, entry, wish)
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

function weighWithheld(
  rule: SubscriptionRule,
  { subscribed = rule.subscribed, getsMailElsewhere }: ContactEntry,
  before: Contact | undefined,
): WeighedEntry {
  const isNew = before === undefined
  const wouldSubscribe = subscribed ?? (isNew && rule.subscribedByDefault)
  return {
    given: isNew ? false : undefined,
    isKept: wouldSubscribe || (!isNew && getsMailElsewhere === true),
    isCleared: false,
    staysSubscribed: false,
    staysUnsubscribed: false,
  }
}
