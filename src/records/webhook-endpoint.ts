/** Webhook endpoints in the API: the record of an endpoint, and the secret that signs requests. */
import { z } from 'zod'
import { instant } from './fields.ts'

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

export type EndpointRecord = z.output<typeof endpointRecord>

export const signingSecret = z.string().meta({
  description:
    '`whsec_…`, as Standard Webhooks has it; `whsec_***` to members without the role ADMIN',
  format: 'password',
})

export const previousSecretUntil = instant.nullable().meta({
  description: 'Until then the previous secret signs, too; null without one',
})

/** The secret that signs the requests of a project's workflows. */
export const signingSecretRecord = z
  .object({ secret: signingSecret, previousSecretUntil })
  .meta({ id: 'WebhookSigningSecret' })

export type SigningSecretRecord = z.output<typeof signingSecretRecord>

export const endpointExample: EndpointRecord = {
  id: '0199a7c0-0000-7000-8000-000000000701',
  url: 'https://shop.example.com/hooks',
  events: ['email.*', 'segment.*'],
  description: 'Tells the shop',
  enabled: true,
  disabledReason: null,
  failingSince: null,
  lastSuccessAt: null,
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}
