/** `POST /v1/track`: records an event of a contact. */
import { z } from 'zod'
import { recordEventByAddress } from '../../features/contacts/events/record-by-address.ts'
import { idempotentPath, rightsOf } from '../exchange/key-rights.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'
import { eventName } from '../shapes/event-name.ts'
import {
  againAtTopLevel,
  emailAddress,
  fieldWarnings,
  instant,
  warnings,
} from '../shapes/fields.ts'
import { warnOfUnknownFields } from '../validation.ts'

export const eventFields = {
  event: eventName,
  email: emailAddress,
  subscribed: z.boolean().optional().meta({
    description:
      'A new contact is subscribed unless this is false; an existing contact keeps its state if this is absent',
  }),
  data: z.unknown().optional().meta({
    description:
      'Stored with the event, and with the contact unless given as {value, persistent: false}',
  }),
  preserveExistingSubscription: z.boolean().optional().meta({
    description: 'If true, `subscribed` applies only when this call creates the contact',
  }),
}

export const recordedEvent = z.object({
  success: z.literal(true),
  data: z.object({
    contact: z.string().meta({
      description:
        'The id of the contact; for the public key, unless the project lets it update contacts, a UUIDv8 that stands for the address',
    }),
    event: z.string().meta({ description: 'The id of the event' }),
    timestamp: instant,
    warnings: warnings.optional(),
  }),
  contact: z.string().meta(againAtTopLevel),
  event: z.string().meta(againAtTopLevel),
  timestamp: instant.meta(againAtTopLevel),
  warnings: fieldWarnings.optional(),
})

const eventBody = z.object(eventFields)

/** The names that other services use for the fields. */
const FIELD_ALIASES = {
  name: 'event',
  eventName: 'event',
  event_name: 'event',
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
    body: eventBody,
    responses: {
      200: { description: 'Recorded: the contact and the event are stored', schema: recordedEvent },
    },
    refusals: [400, 409],
    handle: async ({ caller, project, body, givenBody, path, idempotencyKey: key }) => {
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
      const warnings = warnOfUnknownFields(eventBody, givenBody, FIELD_ALIASES)
      const body200 = { success: true, data: { ...recorded, warnings }, ...recorded }
      return json(200, { ...body200, warnings: rights === 'add' ? warnOfKey(body) : undefined })
    },
  })

/** The same for known and unknown addresses. */
function warnOfKey({ subscribed, data }: Pick<z.infer<typeof eventBody>, 'subscribed' | 'data'>) {
  if (subscribed === undefined && data === undefined) return undefined
  return [
    {
      field: subscribed === undefined ? 'data' : 'subscribed',
      message:
        'The public key adds contacts and keys of their data. It does not unsubscribe contacts, does not overwrite data, and subscribes nobody who left.',
      suggestion:
        'Call with the secret key from a server, or set publicKeyMayUpdate of the project to true.',
    },
  ]
}
