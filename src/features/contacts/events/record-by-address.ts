/**
 * Records a client's event about a contact, given by its address. One transaction creates or
 * changes the contact, appends the event and stores the idempotency key. When the promise resolves,
 * all of it is durable and visible to followers of events.
 *
 * Everybody may have the public key of a project. It never subscribes a person who left. Unless the project
 * lets it update contacts, it changes nothing that an existing contact has, and its answer does not tell
 * whether the contact existed: not by an id, and not by an error.
 */
import { formatInstant } from '../../../clock.ts'
import { invalid, isInvalid } from '../../../errors.ts'
import type { ParsedAddress } from '../../../mail/address/address.ts'
import type { ContactData } from '../../../store/schema/contacts.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { appendEvent } from '../../events/append.ts'
import { isReservedEvent } from '../../events/reserved.ts'
import {
  type IdempotentRequest,
  insertIdempotencyKey,
  type ReservedKeys,
  reserveKey,
} from '../../requests/idempotency.ts'
import { findKnownAddresses } from '../read/known-addresses.ts'
import { mergeData, type ParsedData, parseData } from '../write/data.ts'
import { upsertContacts } from '../write/upsert.ts'

type AddressEventRequest = {
  event: string
  address: ParsedAddress
  /** Undefined keeps the state of an existing contact; a new contact is subscribed. */
  subscribed?: boolean | undefined
  /**
   * Applies `subscribed` to new contacts only, so that a double opt-in form that is filled in again
   * does not undo the confirmation.
   */
  preserveExistingSubscription?: boolean | undefined
  /** Stored with the event unchanged, and with the contact by the rules of `parseData`. */
  data?: unknown
}

/** What a caller may do: anything; anything but subscribe who left; or only add what is not there. */
export type TrackRights = 'all' | 'update' | 'add'

type AddressEventInput = {
  projectId: string
  request: AddressEventRequest
  rights?: TrackRights
  idempotency?: Pick<IdempotentRequest, 'key' | 'method' | 'path'> | undefined
}

/**
 * The `data` of the response: the ids of the contact and of the event, and its time. With the right to add
 * alone, a UUIDv8 stands for the contact, the same for every call with this address.
 */
type RecordedEvent = { contact: string; event: string; timestamp: string }

type Deps = Pick<Base, 'store' | 'config' | 'keyring' | 'now'> & { reservedKeys: ReservedKeys }

/**
 * @throws AppError VALIDATION_ERROR (a reserved name, data that breaks a limit),
 * IDEMPOTENCY_KEY_REUSED
 */
export async function recordEventByAddress(
  deps: Deps,
  input: AddressEventInput,
): Promise<RecordedEvent> {
  const { projectId, request, rights = 'all', idempotency } = input
  const at = deps.now()
  const keyedRequest = idempotency === undefined ? null : { projectId, at, ...idempotency }
  return reserveKey(deps.reservedKeys, keyedRequest, async () => {
    refuseReservedName('event', request.event)
    const data = parseData(request.data)
    return deps.store.write(async (tx) => {
      const ids = await recordEvent(tx, { projectId, request, rights, data, at })
      const shown = rights === 'add' ? { contact: standIn(deps, input) } : {}
      const recorded: RecordedEvent = { ...ids, ...shown, timestamp: formatInstant(at) }
      const hours = deps.config.limits.idempotencyHours
      if (keyedRequest !== null) {
        const response = { statusCode: 200, responseData: recorded, hours }
        await insertIdempotencyKey(tx, keyedRequest, response)
      }
      return recorded
    })
  })
}

function standIn(
  { keyring }: Pick<Deps, 'keyring'>,
  { projectId, request: { address } }: AddressEventInput,
): string {
  return keyring.addressUuid(projectId, address.address)
}

/** `field`: the field of the request that contains the name. @throws AppError VALIDATION_ERROR */
export function refuseReservedName(field: string, name: string): void {
  if (!isReservedEvent(name)) return
  const message = `The name ${name} is reserved: only the service itself emits such events`
  const error = { field, code: 'reserved_event', message, received: name }
  throw invalid([error])
}

type Plan = Pick<AddressEventInput, 'projectId' | 'request'> & {
  rights: TrackRights
  data: ParsedData
  at: number
}

async function recordEvent(tx: Tx, plan: Plan): Promise<Pick<RecordedEvent, 'contact' | 'event'>> {
  const { projectId, request, at } = plan
  const contactId = await upsertSubject(tx, plan)
  const event = await appendEvent(tx, {
    projectId,
    name: request.event,
    contactId,
    emailId: null,
    data: request.data ?? null,
    at,
  })
  return { contact: contactId, event }
}

async function upsertSubject(tx: Tx, plan: Plan): Promise<string> {
  const { projectId, request, rights, data, at } = plan
  const { address } = request
  const known = await findKnownAddresses(tx, projectId, [address.address])
  const contact = known.contacts.get(address.address)
  const isAdding = rights === 'add' && contact !== undefined
  const isKept =
    contact !== undefined &&
    (request.preserveExistingSubscription === true || (isAdding && request.subscribed === false))
  const changes = isAdding ? addedData(contact.data, data.changes) : data.changes
  const change = {
    ...{ projectId, subscribed: isKept ? undefined : request.subscribed },
    ...{ subscribedByDefault: true, reason: 'api' as const },
    newWish: rights === 'all' ? ('explicit' as const) : undefined,
    ...{ at, known },
  }
  const [upserted] = await upsertContacts(tx, change, [{ address, changes }])
  if (upserted === undefined) throw new TypeError('one entry gives one contact')
  return upserted.contact.id
}

/** The new keys; none if the contact would become too large, because an error would tell of it. */
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
