/** The fields of webhook endpoints in requests, and what callers see of secrets. */
import { z } from 'zod'
import {
  MAX_ENDPOINT_URL_LENGTH,
  MAX_EVENT_PATTERNS,
} from '../../../features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { faultInPattern } from '../../../features/outreach/webhooks/event-patterns.ts'
import {
  type ProjectCaller,
  seesSecrets,
} from '../../../features/tenancy/accounts/callers/caller.ts'
import { eventName } from '../../../records/event.ts'
import { MAX_DESCRIPTION_LENGTH } from '../../../records/limits.ts'

const url = z
  .string()
  .min(1)
  .max(MAX_ENDPOINT_URL_LENGTH)
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

/** Returns the record with its secret, or with a mask for callers that must not see the secret. */
export function shownTo<View extends { secret: string }>(caller: ProjectCaller, view: View): View {
  return seesSecrets(caller) ? view : { ...view, secret: MASKED_SECRET }
}

function isWebUrl(text: string): boolean {
  const parsed = URL.parse(text)
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) return false
  return parsed.username === '' && parsed.password === ''
}
