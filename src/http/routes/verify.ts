/**
 * `POST /v1/verify`: verifies one address. Only a missing, empty or over-long text is refused (422);
 * any other text gets a result, and one that is not an address is `valid: false`.
 */
import { z } from 'zod'
import { tooLongText } from '../../base/errors.ts'
import { verifyAddress } from '../../features/people/verification/verify.ts'
import { MAX_ADDRESS_TEXT_LENGTH } from '../../formats/address/address.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

/** A text to verify as an address. */
export const addressText = z
  .string()
  .min(1, 'Must not be empty')
  .max(MAX_ADDRESS_TEXT_LENGTH, tooLongText(MAX_ADDRESS_TEXT_LENGTH))
  .meta({ type: 'string', examples: ['ann@example.org'] })

const verification = z
  .object({
    email: z
      .string()
      .meta({ description: 'The text as given; of `a@b.example <a@b.example>` the address' }),
    valid: z
      .boolean()
      .meta({ description: 'The text is an address, and its domain has MX records' }),
    isDisposable: z.boolean(),
    isAlias: z
      .boolean()
      .meta({ description: 'The domain belongs to a service that forwards to a hidden address' }),
    isTypo: z.boolean(),
    isPlusAddressed: z.boolean(),
    isPersonalEmail: z
      .boolean()
      .meta({ description: 'The domain belongs to a free mail provider' }),
    domainExists: z.boolean(),
    hasWebsite: z.boolean().meta({ description: 'The domain has an A or AAAA record' }),
    hasMxRecords: z.boolean().meta({ description: 'False for a null MX too (RFC 7505)' }),
    reasons: z.array(z.string()).meta({ description: 'English texts for people' }),
    suggestedEmail: z.string().optional().meta({ description: 'Present when a typo is likely' }),
  })
  .meta({ id: 'Verification' })

export const verify = ({ core }: RouteDeps) =>
  projectOperation({
    growsDisk: false,
    tag: 'Public API',
    summary: 'Verify an email address',
    description:
      'Checks the format, the lists of disposable, free and forwarding domains, and DNS; it ' +
      'contacts no mail server. An address is invalid only if its format is wrong, or if its ' +
      'domain does not exist or has no MX records. If name servers do not respond, the call fails ' +
      'with 503.',
    body: z.object({ email: addressText }),
    responses: {
      200: {
        description: 'The result',
        schema: z.object({ success: z.literal(true), data: verification }),
      },
    },
    handle: async ({ body }) =>
      json(200, { success: true, data: await verifyAddress(core, body.email) }),
  })
