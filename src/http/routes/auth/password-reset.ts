/** A new password for users who forgot theirs, by the link in a mail. */
import { z } from 'zod'
import {
  requestPasswordReset,
  resetPassword,
} from '../../../features/tenancy/accounts/passwords/reset.ts'
import { messageResult } from '../../../records/envelope.ts'
import { emailAddress } from '../../../records/fields.ts'
import { emailToken, newPassword } from '../../../records/login.ts'
import { createHourlyLimit } from '../../../work/limiter.ts'
import { deviceCookie } from '../../exchange/cookies.ts'
import { type HttpResponse, json } from '../../response.ts'
import { openOperation, type RouteDeps } from '../../route.ts'
import { addressGroup, addressNetwork } from '../../server/client-address.ts'
import { whileClientWaits } from '../../server/client-gone.ts'

const REQUESTS_PER_HOUR = 10

export const request = ({ core }: RouteDeps) => {
  const limit = createHourlyLimit({
    limit: REQUESTS_PER_HOUR,
    now: core.now,
    publicText: 'Too many password resets were asked for from your network in an hour.',
  })
  return openOperation({
    growsDisk: true,
    tag: 'Authentication',
    summary: 'Ask for a mail to choose a new password',
    description:
      'The response is the same whether or not the address has an account with a password. An ' +
      'account gets at most three such mails an hour; more are dropped. At most ' +
      `${REQUESTS_PER_HOUR} requests an hour from one IP address, or one IPv6 network (/64).`,
    body: z.object({ email: emailAddress }),
    responses: { 200: { description: 'The request is noted', schema: messageResult } },
    refusals: [403, 429, 503],
    example: () => ({
      request: { email: 'grace@example.com' },
      status: 200,
      response: {
        success: true,
        data: { message: 'If the address has an account with a password, a mail is on its way.' },
      },
    }),
    handle: async ({ body, address }) => {
      limit.enter(addressGroup(address)).counted()
      await requestPasswordReset(core, body.email.address)
      return message('If the address has an account with a password, a mail is on its way.')
    },
  })
}

export const reset = ({ core }: RouteDeps) =>
  openOperation({
    tag: 'Authentication',
    summary: 'Choose a new password by a mailed token',
    description:
      'Ends all sessions of the user and all other tokens, and verifies the address. It does not ' +
      'log in, and the second factor stays on. A token works once, within an hour after its mail.',
    body: z.object({ token: emailToken, newPassword }),
    responses: { 200: { description: 'The password is changed', schema: messageResult } },
    refusals: [403, 503],
    example: () => ({
      request: {
        token: '5f0c7b7e9d4b5a6f8e1d2c3b4a59687f5f0c7b7e9d4b5a6f8e1d2c3b4a59687f',
        newPassword: 'another horse battery',
      },
      status: 200,
      response: {
        success: true,
        data: { message: 'Your password is changed. Log in with the new one.' },
      },
    }),
    handle: async ({ body, incoming, address }) => {
      const { token, newPassword: password } = body
      const wideNetwork = addressNetwork(address)
      const device = await whileClientWaits(incoming, (signal) =>
        resetPassword(core, { token, password, wideNetwork, signal }),
      )
      const cookies = [deviceCookie(core.config, device, core.now())]
      return { ...message('Your password is changed. Log in with the new one.'), cookies }
    },
  })

function message(text: string): HttpResponse {
  return json(200, { success: true, data: { message: text } })
}
