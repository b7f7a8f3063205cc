/** Events in the API: the record, its pages, and the queries that list and count events. */
import { z } from 'zod'
import { tooLongText } from '../base/errors.ts'
import { EVENT_NAME_RULES } from './event-name.ts'
import { againAtTopLevel, instant, warnings } from './fields.ts'
import { jobStatus } from './job.ts'
import { MAX_EVENT_NAME_LENGTH } from './limits.ts'
import { countParameter, cursorParameter, instantParameter, page } from './page.ts'
import { UNLISTED_EVENTS } from './words.ts'

const text = z.string().min(1).max(MAX_EVENT_NAME_LENGTH, tooLongText(MAX_EVENT_NAME_LENGTH))

/** The name of an event in a request. */
export const eventName = EVENT_NAME_RULES.reduce(
  (shape, { pattern, message }) => shape.regex(pattern, message),
  text,
).meta({ pattern: '^[^\\p{Cc}\\p{Cs}]*$' })

export const eventRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    data: z.unknown().meta({ description: 'The data as the client gave it, or null' }),
    projectId: z.string(),
    contactId: z.string().nullable(),
    emailId: z.string().nullable(),
    createdAt: instant,
  })
  .meta({ id: 'Event' })

export type EventRecord = z.output<typeof eventRecord>

const listedEvent = eventRecord.extend({ contact: z.object({ email: z.string() }).nullable() })

export type ListedEventRecord = z.output<typeof listedEvent>

export const eventPage = page(listedEvent, 'events').meta({ id: 'EventPage' })

export const eventQuery = z.object({
  eventName: z
    .string()
    .min(1)
    .optional()
    .meta({
      description: `Lists only events of this name; aliases such as email.delivered for email.delivery work. A list contains these events only if this parameter names them: ${UNLISTED_EVENTS.join(', ')}`,
    }),
  limit: countParameter({ fallback: 100, cap: 1_000 }),
  cursor: cursorParameter,
})

/** The query parameters of the list of a contact's events. */
export const contactEventQuery = z.object({ limit: countParameter({ fallback: 50, cap: 1_000 }) })

/** The query parameters of the counts of events by name. */
export const eventStatsQuery = z.object({
  startDate: instantParameter('first'),
  endDate: instantParameter('last'),
})

/** The response to a call that records an event; the call names the contact by its address. */
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
})

const uses = z.array(z.object({ id: z.string(), name: z.string() }))

export const eventUsage = z.object({
  usedInSegments: uses,
  usedInWorkflows: uses,
  totalCount: z.int(),
  uniqueContacts: z.int().meta({ description: 'The number of contacts with such an event' }),
  canDelete: z.boolean(),
})

/** `canDelete`: false for reserved names, and while something refers to the name. */
export type EventUsage = z.output<typeof eventUsage>

/** `jobId`: the job that deletes the events; absent if the events are already deleted. */
export const eventDeletion = z.object({ deletedCount: z.int(), jobId: z.string().optional() })

export type EventDeletion = z.output<typeof eventDeletion>

export const eventDeletionStatus = jobStatus(
  z.object({ deletedCount: z.int() }).nullable().meta({ description: 'When completed' }),
  z.object({ name: z.string(), total: z.int() }),
)

export const eventExample: EventRecord = {
  id: '0199a7c0-0000-7000-8000-000000000013',
  name: 'order placed',
  data: { total: { value: 42.5, persistent: false } },
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  contactId: '0199a7c0-0000-7000-8000-000000000003',
  emailId: null,
  createdAt: '2026-11-22T09:30:00.000Z',
}
