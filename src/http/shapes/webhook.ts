/** The shapes of webhook endpoints and of their deliveries. */
import { z } from 'zod'
import { parseInstant } from '../../base/clock.ts'
import { WEBHOOK_STATUSES } from '../../features/outreach/webhooks/deliveries/view.ts'
import {
  MAX_EVENT_PATTERNS,
  MAX_URL_LENGTH,
} from '../../features/outreach/webhooks/endpoints/create.ts'
import { faultInPattern } from '../../features/outreach/webhooks/event-patterns.ts'
import { type ProjectCaller, seesSecrets } from '../../features/tenancy/accounts/callers/caller.ts'
import { instant } from '../../records/fields.ts'
import { MAX_DESCRIPTION_LENGTH } from '../../records/limits.ts'
import { eventName } from './event-name.ts'

const url = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .refine(isWebUrl, 'Expected an http or https URL without user and password')
  .meta({ description: 'https is recommended', format: 'uri' })

const pattern = eventName.superRefine((text, context) => {
  const message = faultInPattern(text)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

const fields = {
  url,
  events: z.array(pattern).min(1).max(MAX_EVENT_PATTERNS).meta({
    description:
      'Names of events, and patterns: `email.*` for all that begin so, `*` for all, tracked ones too',
  }),
  description: z.string().max(MAX_DESCRIPTION_LENGTH).nullable(),
  enabled: z.boolean(),
}

const MASKED_SECRET = 'whsec_***'

export const newEndpoint = z.object(fields).partial({ description: true, enabled: true })
export const endpointChanges = z.object(fields).partial()

export const endpointRecord = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().nullable(),
    enabled: z.boolean(),
    disabledReason: z.string().nullable().meta({
      description: 'Why the service disabled the endpoint; null if a request did',
    }),
    failingSince: instant
      .nullable()
      .meta({ description: 'The first failure since the last success' }),
    lastSuccessAt: instant.nullable(),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'WebhookEndpoint' })

export const signingSecret = z.string().meta({
  description:
    '`whsec_…`, as Standard Webhooks has it; `whsec_***` to members without the role ADMIN',
  format: 'password',
})

/** A record with its secret as the caller is shown it. */
export function shownTo<View extends { secret: string }>(caller: ProjectCaller, view: View): View {
  return seesSecrets(caller) ? view : { ...view, secret: MASKED_SECRET }
}

export const previousSecretUntil = instant.nullable().meta({
  description: 'Until then the previous secret signs, too; null without one',
})

export const webhookStatus = z.enum(WEBHOOK_STATUSES)

export const deliveryRecord = z
  .object({
    id: z.string(),
    endpointId: z.string(),
    eventId: z.string().meta({ description: 'The header `webhook-id` of all attempts' }),
    event: z.string().meta({ description: "The event's name" }),
    status: webhookStatus,
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

/** Epoch ms. */
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

function isWebUrl(text: string): boolean {
  const parsed = URL.parse(text)
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) return false
  return parsed.username === '' && parsed.password === ''
}
