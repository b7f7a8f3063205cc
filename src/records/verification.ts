/** The verification of an email address in the API. */
import { z } from 'zod'
import { tooLongText } from '../base/errors.ts'
import { MAX_ADDRESS_TEXT_LENGTH } from '../formats/address/address.ts'

/** The text that a client wants verified as an address. */
export const addressText = z
  .string()
  .min(1, 'Must not be empty')
  .max(MAX_ADDRESS_TEXT_LENGTH, tooLongText(MAX_ADDRESS_TEXT_LENGTH))
  .meta({ type: 'string', examples: ['ann@example.org'] })

export const verification = z
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

export type Verification = z.output<typeof verification>

export const verificationExample: Verification = {
  email: 'ann@example.org',
  valid: true,
  isDisposable: false,
  isAlias: false,
  isPersonalEmail: false,
  isTypo: false,
  isPlusAddressed: false,
  domainExists: true,
  hasWebsite: true,
  hasMxRecords: true,
  reasons: ['The address is well formed and its domain accepts mail'],
}
