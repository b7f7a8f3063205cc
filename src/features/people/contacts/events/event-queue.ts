/**
 * The queue in which events of clients wait for their transaction. Events that wait at the same
 * time are written together: one statement looks up all addresses of a project, and one adds the
 * contacts. An event is written alone if a batch does not take its contact
 * (`write/contact-batch.ts`).
 */
import { isInvalid } from '../../../../base/errors.ts'
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { ContactData } from '../../../../store/schema/json-values.ts'
import type { Store } from '../../../../store/store.ts'
import {
  ALONE,
  type Alone,
  createGatherer,
  type Gatherer,
} from '../../../../store/write/gatherer.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { appendEvent, appendEvents } from '../../../ground/events/append.ts'
import { findKnownAddresses } from '../read/known-addresses.ts'
import { openContactBatches, weighData, writeContactBatches } from '../write/contact-batch.ts'
import { mergeData, type ParsedData } from '../write/data.ts'
import type { ContactEntry, SubscriptionRule } from '../write/next-contact.ts'
import { upsertContacts } from '../write/upsert.ts'

type AddressEventRequest = {
  event: string
  address: ParsedAddress
  /** If undefined, an existing contact keeps its state, and a new contact is subscribed. */
  subscribed?: boolean | undefined
  /**
   * Applies `subscribed` to new contacts only, so that a double opt-in form that is filled in again
   * does not undo the confirmation.
   */
  preserveExistingSubscription?: boolean | undefined
  /** Stored with the event unchanged, and with the contact by the rules of `parseData`. */
  data?: unknown
}

/**
 * What a caller may do. `all`: anything; `update`: anything but subscribe a person who left; `add`:
 * only add contacts and keys that are not there.
 */
export type TrackRights = 'all' | 'update' | 'add'

/** A checked request to record an event. */
export type EventPlan = {
  projectId: string
  request: AddressEventRequest
  rights: TrackRights
  data: ParsedData
  at: number
}

/** The ids of the contact and of the event. */
type EventIds = { contact: string; event: string }

/** Resolves when contact and event are durable. @throws AppError as `recordEventByAddress` */
export type EventQueue = Gatherer<EventPlan, EventIds>

export function createEventQueue(store: Pick<Store, 'write' | 'recountCallers'>): EventQueue {
  return createGatherer<EventPlan, EventIds>(store, {
    together: recordTogether,
    alone: recordAlone,
    weigh: ({ request }) => weighData(request.data),
  })
}

async function recordTogether(tx: Tx, plans: readonly EventPlan[]): Promise<(EventIds | Alone)[]> {
  const contactIds = new Map<EventPlan, string>()
  const opened = await openContactBatches(tx, plans, {
    projectOf: ({ projectId }) => projectId,
    addressesOf: ({ request }) => [request.address.address],
  })
  for (const { batch, plans: own } of opened) {
    for (const plan of own) {
      const { rule, entry } = changeOf(plan, batch.current(plan.request.address.address))
      const [result] = batch.take(rule, [entry]) ?? []
      if (result !== undefined) contactIds.set(plan, result.contact.id)
    }
  }
  await writeContactBatches(tx, opened)
  const recorded = plans.filter((plan) => contactIds.has(plan))
  const ids = await appendEvents(
    tx,
    recorded.map((plan) => toEvent(plan, contactIds.get(plan) ?? '')),
  )
  const eventIds = new Map(recorded.map((plan, index) => [plan, ids[index] ?? '']))
  return plans.map((plan) => {
    const contact = contactIds.get(plan)
    return contact === undefined ? ALONE : { contact, event: eventIds.get(plan) ?? '' }
  })
}

async function recordAlone(tx: Tx, plan: EventPlan): Promise<EventIds> {
  const { projectId, request } = plan
  const { address } = request.address
  const known = await findKnownAddresses(tx, projectId, [address])
  const { rule, entry } = changeOf(plan, known.contacts.get(address))
  const [upserted] = await upsertContacts(tx, { ...rule, reason: 'api', known }, [entry])
  if (upserted === undefined) throw new TypeError('one entry gives one contact')
  const contact = upserted.contact.id
  return { contact, event: await appendEvent(tx, toEvent(plan, contact)) }
}

function toEvent({ projectId, request, at }: EventPlan, contactId: string) {
  const { event: name, data = null } = request
  return { projectId, name, contactId, emailId: null, data, at }
}

function changeOf(
  { projectId, request, rights, data, at }: EventPlan,
  contact: Contact | undefined,
): { rule: SubscriptionRule; entry: ContactEntry } {
  const { address, subscribed, preserveExistingSubscription } = request
  const isAdding = rights === 'add' && contact !== undefined
  const isKept =
    contact !== undefined &&
    (preserveExistingSubscription === true || (isAdding && subscribed === false))
  const rule = {
    projectId,
    subscribed: isKept ? undefined : subscribed,
    subscribedByDefault: true,
    newWish: rights === 'all' ? ('explicit' as const) : undefined,
    at,
  }
  const changes = isAdding ? addedData(contact.data, data.changes) : data.changes
  return { rule, entry: { address, changes } }
}

/**
 * Returns the changes for keys that the contact lacks. Returns no changes if the contact would
 * become too large, because an error would show that the contact exists.
 */
function addedData(current: ContactData | null, changes: ContactData): ContactData {
  const added = Object.fromEntries(
    Object.entries(changes).filter(
      ([key, value]) => value !== null && !Object.hasOwn(current ?? {}, key),
    ),
  )
  try {
    mergeData(current, added)
    return added
  } catch (error) {
    if (isInvalid(error)) return {}
    throw error
  }
}
