/**
 * Records a client's event about a contact, given by its address. One transaction creates or
 * changes the contact, appends the event and stores the idempotency key. When the promise resolves,
 * all of it is durable and visible to followers of events.
 *
 * Everybody may have the public key of a project. It never subscribes a person who left. Unless the project
 * lets it update contacts, it changes nothing that an existing contact has, and its answer does not tell
 * whether the contact existed: not by an id, and not by an error.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { invalid } from '../../../../base/errors.ts'
import type { Base } from '../../../ground/base.ts'
import { isReservedEvent } from '../../../ground/events/reserved.ts'
import {
  type IdempotentRequest,
  insertIdempotencyKey,
  type ReservedKeys,
  reserveKey,
} from '../../../ground/requests/idempotency.ts'
import { parseData } from '../write/data.ts'
import type { EventPlan, EventQueue, TrackRights } from './event-queue.ts'

type AddressEventInput = Pick<EventPlan, 'projectId' | 'request'> & {
  rights?: TrackRights
  idempotency?: Pick<IdempotentRequest, 'key' | 'method' | 'path'> | undefined
}

/**
 * The `data` of the response: the ids of the contact and of the event, and its time. With the right to add
 * alone, a UUIDv8 stands for the contact, the same for every call with this address.
 */
type RecordedEvent = { contact: string; event: string; timestamp: string }

type Deps = Pick<Base, 'config' | 'keyring' | 'now'> & {
  reservedKeys: ReservedKeys
  eventQueue: EventQueue
}

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
