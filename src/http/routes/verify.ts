/**
 * `POST /v1/verify` (contract 1.3, 14). The specification asks for the format of an email address,
 * the algorithm calls what has none of it not valid. Both hold: a body without a text of an address's
 * length is refused with 422; any text of that length gets an answer, and one that is no address is
 * `valid: false`.
 */
import { z } from 'zod'
import { verifyAddress } from '../../features/verification/verify.ts'
import { MAX_ADDRESS_TEXT_LENGTH } from '../../mail/address/address.ts'
import { projectOperation } from '../operation.ts'
import { json } from '../response.ts'
import type { RouteDeps } from '../route-deps.ts'

/** A text that is to be looked at as an address. */
export const addressText = z
  .string()
  .min(1, 'Must not be empty')
  .max(MAX_ADDRESS_TEXT_LENGTH, `Must be at most ${MAX_ADDRESS_TEXT_LENGTH} characters long`)
  .meta({ type: 'string', examples: ['ann@example.org'] })

const verification = z
  .object({
    email: z.string().meta({ description: 'As given' }),
    valid: z.boolean().meta({ description: 'An address, of a domain that has MX records' }),
    isDisposable: z.boolean(),
    isAlias: z.boolean().meta({ description: 'Of a service that forwards to a hidden address' }),
    isTypo: z.boolean(),
    isPlusAddressed: z.boolean(),
    isPersonalEmail: z.boolean().meta({ description: 'Of a free mail provider' }),
    domainExists: z.boolean(),
    hasWebsite: z.boolean().meta({ description: 'The domain has an A or AAAA record' }),
    hasMxRecords: z.boolean().meta({ description: 'False for a null MX too (RFC 7505)' }),
    reasons: z.array(z.string()).meta({ description: 'English, for people' }),
    suggestedEmail: z.string().optional().meta({ description: 'Where a typo is suspected' }),
  })
  .meta({ id: 'Verification' })

export const verify = ({ core }: RouteDeps) =>
  projectOperation({
    growsDisk: false,
    tag: 'Public API',
    summary: 'Verify an email address',
    description:
      'Looks at the format, the lists of disposable, free and forwarding domains, and DNS; no ' +
      'mail server is asked. Only a bad format, a domain that does not exist and one without MX ' +
      'records make an address invalid. Name servers that give no answer are an error 503, never ' +
      'a domain that does not exist.',
    body: z.object({ email: addressText }),
    responses: {
      200: {
        description: 'What is known of it',
        schema: z.object({ success: z.literal(true), data: verification }),
      },
    },
    handle: async ({ body }) =>
      json(200, { success: true, data: await verifyAddress(core, body.email) }),
  })
