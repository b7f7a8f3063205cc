/**
 * `POST /v1/verify`: verifies one address. Only a missing, empty or over-long text is refused (422);
 * any other text gets a result, and one that is not an address is `valid: false`.
 */
import { z } from 'zod'
import { verifyAddress } from '../../features/people/verification/verify.ts'
import { enveloped } from '../../records/envelope.ts'
import { addressText, verification, verificationExample } from '../../records/verification.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

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
        schema: enveloped(verification),
      },
    },
    example: () => ({
      request: { email: 'ann@example.org' },
      status: 200,
      response: { success: true, data: verificationExample },
    }),
    handle: async ({ body }) =>
      json(200, { success: true, data: await verifyAddress(core, body.email) }),
  })
