/** Deliveries of webhooks in the API: the record, its pages, and the requests that list and replay deliveries. */
import { z } from 'zod'
import { parseInstant } from '../base/clock.ts'
import { instant } from './fields.ts'
import { page, pageParameters } from './page.ts'
import { WEBHOOK_STATUSES } from './words.ts'

const status = z.enum(WEBHOOK_STATUSES)

export const deliveryRecord = z
  .object({
    id: z.string(),
    endpointId: z.string(),
    eventId: z.string().meta({ description: 'The header `webhook-id` of all attempts' }),
    event: z.string().meta({ description: "The event's name" }),
    status,
    attempts: z.int(),
    statusCode: z.int().nullable().meta({ description: 'Of the last attempt' }),
    error: z.string().nullable(),
    response: z
      .string()
      .nullable()
      .meta({ description: 'The beginning of the response of a failed attempt' }),
    durationMs: z.int().nullable(),
    createdAt: instant,
    lastAttemptAt: instant.nullable(),
    nextAttemptAt: instant.nullable(),
    completedAt: instant.nullable(),
    heldReason: z.enum(['restored']).nullable().meta({
      description: 'Why it is not sent: the database was brought back from a copy',
    }),
  })
  .meta({ id: 'WebhookDelivery' })

export type DeliveryRecord = z.output<typeof deliveryRecord>

export const deliveryQuery = z.object({
  status: status.optional(),
  ...pageParameters,
})

export const deliveryPage = page(deliveryRecord).meta({ id: 'WebhookDeliveryPage' })

/** A date or an instant, parsed to epoch milliseconds. */
const time = z
  .string()
  .transform((text, context): number => {
    const parsed = parseInstant(text.trim())
    if (parsed !== undefined) return parsed.at
    const message = 'Expected a date or an instant in ISO 8601 or RFC 1123'
    context.addIssue({ code: 'custom', message, params: { code: 'invalid_date' } })
    return z.NEVER
  })
  .meta({ type: 'string', format: 'date-time' })

export const replaySpan = z.object({
  since: time.meta({ description: 'At most 30 days ago' }),
  until: time.optional().meta({ description: 'Now, if absent' }),
})

export const deliveryExample: DeliveryRecord = {
  id: '0199a7c0-0000-7000-8000-000000000702',
  endpointId: '0199a7c0-0000-7000-8000-000000000701',
  eventId: '0199a7c0-0000-7000-8000-000000000703',
  event: 'webhook.test',
  status: 'SUCCEEDED',
  attempts: 1,
  statusCode: 200,
  error: null,
  response: null,
  durationMs: 48,
  createdAt: '2026-11-22T09:30:00.000Z',
  lastAttemptAt: '2026-11-22T09:30:00.000Z',
  nextAttemptAt: null,
  completedAt: '2026-11-22T09:30:00.000Z',
  heldReason: null,
}
