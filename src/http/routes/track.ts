/** `POST /v1/track`: something a contact did (contract 1.2). What it leads to is `recordEventByAddress`'s. */
import { z } from 'zod'
import { recordEventByAddress } from '../../features/contacts/events/record-by-address.ts'
import { MAX_EVENT_NAME_LENGTH } from '../../features/limits.ts'
import { projectOperation } from '../operation.ts'
import { json } from '../response.ts'
import type { RouteDeps } from '../route-deps.ts'
import { againAtTopLevel, emailAddress, instant, warnings } from '../shapes/fields.ts'
import { warnOfUnknownFields } from '../validation/unknown-fields.ts'

/**
 * Any text that can stand in a path, percent-encoded: no control characters, no half characters, and
 * not what a path takes for a step (RFC 3986, section 5.2.4), however it is encoded.
 */
export const eventName = z
  .string()
  .min(1)
  .max(MAX_EVENT_NAME_LENGTH, `Must be at most ${MAX_EVENT_NAME_LENGTH} characters long`)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'Must not contain line breaks or control characters')
  .regex(/^(?!\.{1,2}$)/, 'Must not be . or ..')
  .meta({ pattern: '^[^\\p{Cc}\\p{Cs}]*$' })

export const trackFields = {
  event: eventName,
  email: emailAddress,
  subscribed: z.boolean().optional().meta({
    description:
      'A new contact is subscribed unless this is false; others keep their state without it',
  }),
  data: z.unknown().optional().meta({
    description: 'Kept with the event; stored with the contact unless {value, persistent: false}',
  }),
  preserveExistingSubscription: z.boolean().optional().meta({
    description: 'With true, `subscribed` applies only where this call makes the contact',
  }),
}

export const tracked = z.object({
  success: z.literal(true),
  data: z.object({
    contact: z.string().meta({ description: 'The id of the contact' }),
    event: z.string().meta({ description: 'The id of the event' }),
    timestamp: instant,
    warnings: warnings.optional(),
  }),
  contact: z.string().meta(againAtTopLevel),
  event: z.string().meta(againAtTopLevel),
  timestamp: instant.meta(againAtTopLevel),
})

const trackBody = z.object(trackFields)

/** What other services call a field of ours. */
const aliases = {
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
    summary: 'Track an event of a contact, who is made if need be',
    description:
      'Takes either key. Names of events that the service itself emits are refused: `email.*`, ' +
      '`contact.subscribed`, `contact.unsubscribed`, `segment.*.entry`, `segment.*.exit`.',
    takesIdempotencyKey: true,
    body: trackBody,
    responses: {
      200: { description: 'Tracked: contact and event are durable', schema: tracked },
    },
    refusals: [400, 409],
    handle: async ({ project, body, givenBody, path, idempotencyKey: key }) => {
      const { email: address, ...request } = body
      const tracked = await recordEventByAddress(core, {
        projectId: project.id,
        request: { ...request, address },
        idempotency: key === undefined ? undefined : { key, method: 'POST', path },
      })
      const warnings = warnOfUnknownFields(trackBody, givenBody, aliases)
      return json(200, { success: true, data: { ...tracked, warnings }, ...tracked })
    },
  })
