/**
 * Verifies that a user reads the mail to an address, by the link in a mail. The mail can be sent
 * again.
 */
import { z } from 'zod'
import {
  requestVerification,
  verifyByToken,
} from '../../../features/tenancy/accounts/sign-up/verify-address.ts'
import { messageResult } from '../../../records/envelope.ts'
import { emailToken } from '../../../records/login.ts'
import { type HttpResponse, json } from '../../response.ts'
import { openOperation, type RouteDeps, userOperation } from '../../route.ts'

export const verifyEmail = ({ core }: RouteDeps) =>
  openOperation({
    tag: 'Authentication',
    summary: 'Verify an address by a mailed token',
    description: 'A token works once, within an hour after its mail.',
    body: z.object({ token: emailToken }),
    responses: { 200: { description: 'The address is verified', schema: messageResult } },
    refusals: [403],
    example: () => ({
      request: { token: '5f0c7b7e9d4b5a6f8e1d2c3b4a59687f5f0c7b7e9d4b5a6f8e1d2c3b4a59687f' },
      status: 200,
      response: { success: true, data: { message: 'Your email address is verified.' } },
    }),
    handle: async ({ body }) => {
      await verifyByToken(core, body.token)
      return message('Your email address is verified.')
    },
  })

export const request = ({ core }: RouteDeps) =>
  userOperation({
    tag: 'Authentication',
    summary: 'Ask for another verification mail',
    description: 'At most three an hour, beside the mail of the sign-up.',
    responses: { 200: { description: 'A mail is on its way', schema: messageResult } },
    refusals: [400],
    example: () => ({
      status: 200,
      response: { success: true, data: { message: 'A mail with a link is on its way.' } },
    }),
    handle: async ({ user }) => {
      const found = await requestVerification(core, user)
      return found === 'verified'
        ? message('Your email address is verified already.')
        : message('A mail with a link is on its way.')
    },
  })

function message(text: string): HttpResponse {
  return json(200, { success: true, data: { message: text } })
}
