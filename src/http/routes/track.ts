/** `POST /v1/track`: records an event of a contact. */
import { z } from 'zod'
import { recordEventByAddress } from '../../features/people/contacts/events/contact-events.ts'
import { eventName, recordedEvent } from '../../records/event.ts'
import { emailAddress } from '../../records/fields.ts'
import { idempotentPath, rightsOf } from '../exchange/key-rights.ts'
import { json } from '../response.ts'
import { projectOperation, type RawCall, type RouteDeps } from '../route.ts'
import { toWarningTexts } from '../unknown-names.ts'
import { EVENT_DATA_TEXTS, findWeakData } from '../weak-data.ts'

export const eventFields = {
  event: eventName,
  email: emailAddress,
  subscribed: z.boolean().optional().meta({
    description:
      'A new contact is subscribed unless this is false; an existing contact keeps its state if this is absent',
  }),
  data: z.unknown().optional().meta({
    description:
      'An object; stored with the event, and with the contact unless given as {value, persistent: false}',
  }),
  preserveExistingSubscription: z.boolean().optional().meta({
    description: 'If true, `subscribed` applies only when this call creates the contact',
  }),
}

const eventBody = z.object(eventFields)

/** The names that other services use for the fields. */
const FIELD_ALIASES = {
  name: 'event',
  eventName: 'event',
  contact: 'email',
  properties: 'data',
  attributes: 'data',
  metadata: 'data',
  payload: 'data',
}

export const track = ({ core }: RouteDeps) =>
  projectOperation({
    tag: 'Public API',
    summary: 'Record an event of a contact; creates the contact if necessary',
    description:
      'Accepts the secret and the public key. The public key never subscribes a person who left; unless ' +
      '`publicKeyMayUpdate` of the project is true, it only adds contacts, keys of data and events. Names of events that the service emits are refused: `email.*`, ' +
      '`contact.subscribed`, `contact.unsubscribed`, `segment.*.entry`, `segment.*.exit`.',
    takesIdempotencyKey: true,
    names: { aliases: FIELD_ALIASES },
    body: eventBody,
    responses: {
      200: { description: 'Recorded: the contact and the event are stored', schema: recordedEvent },
    },
    refusals: [400, 409],
    example: () => ({
      request: {
        event: 'order placed',
        email: 'ann@example.org',
        data: { total: { value: 42.5, persistent: false } },
      },
      status: 200,
      response: {
        success: true,
        data: {
          contact: '0199a7c0-0000-7000-8000-000000000003',
          event: '0199a7c0-0000-7000-8000-000000000013',
          timestamp: '2026-11-22T09:30:00.000Z',
        },
        contact: '0199a7c0-0000-7000-8000-000000000003',
        event: '0199a7c0-0000-7000-8000-000000000013',
        timestamp: '2026-11-22T09:30:00.000Z',
      },
    }),
    handle: async (call) => {
      const { caller, project, body, path, idempotencyKey: key } = call
      const { email: address, ...request } = body
      const rights = rightsOf(caller)
      const recorded = await recordEventByAddress(core, {
        projectId: project.id,
        request: { ...request, address },
        rights,
        idempotency:
          key === undefined
            ? undefined
            : { key, method: 'POST', path: idempotentPath(caller, path) },
      })
      for (const warning of findWeakData(body.data, EVENT_DATA_TEXTS)) call.warn(warning)
      if (rights === 'add') warnOfKey(body, call.warn)
      const texts = toWarningTexts(call.warnings)
      const warnings = texts.length === 0 ? undefined : texts
      return json(200, { success: true, data: { ...recorded, warnings }, ...recorded })
    },
  })

type KeyedBody = Pick<
  z.infer<typeof eventBody>,
  'subscribed' | 'preserveExistingSubscription' | 'data'
>

/**
 * Warns that with the public key `subscribed` and `data` have only a part of their effect. The warning follows
 * from the body alone, so that it does not tell whether the address is known.
 */
function warnOfKey(body: KeyedBody, warn: RawCall['warn']): void {
  const texts = [describeState(body), describeData(body)].filter((text) => text !== undefined)
  if (texts.length === 0) return
  warn({
    field: body.subscribed === undefined ? 'data' : 'subscribed',
    message: `With the public key, ${texts.join('; ')}.`,
    suggestion:
      'To change what a known contact has, call with the secret key from a server, or set publicKeyMayUpdate of the project to true.',
  })
}

function describeState({
  subscribed,
  preserveExistingSubscription: isPreserved,
}: KeyedBody): string | undefined {
  if (subscribed === undefined) return undefined
  if (!subscribed) return 'a new contact is unsubscribed as asked, and a known one keeps its state'
  return isPreserved === true
    ? 'a new contact is subscribed as asked unless the person left, and a known one keeps its state'
    : 'a contact is subscribed as asked, new or known, unless the person left'
}

function describeData({ data }: KeyedBody): string | undefined {
  return data === undefined
    ? undefined
    : 'a known contact gets only keys of the data that it does not have yet, and the event has all of it'
}
