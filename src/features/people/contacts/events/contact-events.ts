/**
 * Records a client's event about a contact, given by an address or by ids, and lists the events of
 * a contact.
 *
 * For an event by address, one transaction creates or changes the contact, appends the event and
 * stores the idempotency key. When the promise resolves, all three are durable and visible to
 * followers of events. An event by ids changes neither the contact nor the email.
 *
 * The public key of a project is no secret. A call with the public key never subscribes a person
 * who left. Unless the project lets the public key update contacts, the call changes nothing that
 * an existing contact has, and neither an id nor an error in the answer tells whether the contact
 * existed.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { invalid, notFound } from '../../../../base/errors.ts'
import type { EventRecord } from '../../../../records/event.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { appendEvent } from '../../../ground/events/append.ts'
import { listContactEvents } from '../../../ground/events/list.ts'
import { isReservedEvent } from '../../../ground/events/reserved.ts'
import type { Listing } from '../../../ground/listing.ts'
import {
  type IdempotentRequest,
  insertIdempotencyKey,
  type ReservedKeys,
  reserveKey,
} from '../../../ground/requests/idempotency.ts'
import { type ContactKey, loadContact, loadContactIn } from '../read/find-contact.ts'
import { checkData, parseData } from '../write/data.ts'
import type { EventPlan, EventQueue, TrackRights } from './event-queue.ts'

type AddressEventInput = Pick<EventPlan, 'projectId' | 'request'> & {
  rights?: TrackRights
  idempotency?: Pick<IdempotentRequest, 'key' | 'method' | 'path'> | undefined
}

/**
 * The `data` of the response: the ids of the contact and of the event, and its time. A caller that
 * may only add contacts gets, instead of the contact's id, a UUIDv8 made from the address: the same
 * in every call with this address.
 */
type RecordedEvent = { contact: string; event: string; timestamp: string }

type Deps = Pick<Base, 'config' | 'keyring' | 'now'> & {
  reservedKeys: ReservedKeys
  eventQueue: EventQueue
}

type EventDraft = {
  projectId: string
  name: string
  contactId?: string | undefined
  emailId?: string | undefined
  data?: unknown
}

const findEmail = statement((db) =>
  db
    .select({ id: emails.id })
    .from(emails)
    .where(and(eq(emails.id, parameter('id')), eq(emails.projectId, parameter('projectId')))),
)

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
    const plan = { projectId, request, rights, data, at }
    return deps.eventQueue(plan, async (tx, ids) => {
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

/**
 * Records an event about a contact and an email. Returns the recorded event.
 * @throws AppError VALIDATION_ERROR (a reserved name, data that breaks a limit), CONTACT_NOT_FOUND and
 *   RESOURCE_NOT_FOUND for a contact and an email that the project does not have
 */
export async function recordEventByIds(
  { store, now }: Pick<Base, 'store' | 'now'>,
  draft: EventDraft,
): Promise<EventRecord> {
  refuseReservedName('name', draft.name)
  checkData(draft.data)
  const { projectId, name, contactId = null, emailId = null } = draft
  const event = { projectId, name, contactId, emailId, data: draft.data ?? null }
  const at = now()
  const id = await store.write(async (tx) => {
    await requireOwn(tx, draft)
    return appendEvent(tx, { ...event, at })
  })
  return { ...event, id, createdAt: formatInstant(at) }
}

/** Lists the newest events of a contact. @throws AppError CONTACT_NOT_FOUND, also for another project's */
export async function listEventsOfContact(
  deps: Pick<Base, 'store'>,
  { projectId, id, limit }: ContactKey & { limit: number },
): Promise<Listing<EventRecord, object>> {
  await loadContact(deps, { projectId, id })
  return listContactEvents(deps, { contactId: id, projectId, limit })
}

function standIn(
  { keyring }: Pick<Deps, 'keyring'>,
  { projectId, request: { address } }: AddressEventInput,
): string {
  return keyring.addressUuid(projectId, address.address)
}

/** `field`: the field of the request that contains the name. @throws AppError VALIDATION_ERROR */
function refuseReservedName(field: string, name: string): void {
  if (!isReservedEvent(name)) return
  const message = `The name ${name} is reserved: only the service itself emits such events`
  const error = { field, code: 'reserved_event', message, received: name }
  throw invalid([error])
}

async function requireOwn(tx: Tx, { projectId, contactId, emailId }: EventDraft): Promise<void> {
  if (contactId !== undefined) await loadContactIn(tx, { projectId, id: contactId })
  if (emailId === undefined) return
  if ((await tx.find(findEmail, { projectId, id: emailId })) !== undefined) return
  throw notFound('email', emailId, 'No email of this project has that id.')
}
