/** The second factor of the user who has logged in. */
import { z } from 'zod'
import {
  confirmTotp,
  disableTotp,
  startTotp,
} from '../../../features/tenancy/accounts/second-factor/second-factor.ts'
import {
  loginCode,
  newRecoveryCodes,
  newSecondFactor,
  presentPassword,
} from '../../../records/login.ts'
import { MAX_ACCOUNT_BYTES } from '../../body/account-bytes.ts'
import { sessionCookie } from '../../exchange/cookies.ts'
import { guesserOf } from '../../exchange/session.ts'
import { json, noContent } from '../../response.ts'
import { type RouteDeps, type UserCall, userOperation } from '../../route.ts'
import { whileClientWaits } from '../../server/client-gone.ts'

/** These calls protect the user, and store next to nothing. */
const shared = { tag: 'Users', growsDisk: false, maxBodyBytes: MAX_ACCOUNT_BYTES } as const

export const start = ({ core }: RouteDeps) =>
  userOperation({
    ...shared,
    summary: 'Make the secret of a second factor',
    description: 'It takes effect when a code confirms it. Only for users with a password.',
    body: z.object({ password: presentPassword }),
    responses: { 200: { description: 'The secret', schema: newSecondFactor } },
    refusals: [409],
    example: () => ({
      request: { password: 'correct horse battery staple' },
      status: 200,
      response: { secret: '…', uri: 'otpauth://totp/Pillarbox…' },
    }),
    handle: async (call) =>
      whileClientWaits(call.incoming, async (signal) =>
        json(200, await startTotp(core, passwordOf(call, signal))),
      ),
  })

export const confirm = ({ core }: RouteDeps) =>
  userOperation({
    ...shared,
    summary: 'Turn the second factor on',
    description:
      'All other sessions and the links that reset the password end; this session goes on with the cookie of the response.',
    body: z.object({ code: loginCode }),
    responses: { 200: { description: 'The recovery codes', schema: newRecoveryCodes } },
    refusals: [409],
    example: () => ({
      request: { code: '287082' },
      status: 200,
      response: { recoveryCodes: ['…', '…', '…', '…', '…', '…', '…', '…', '…', '…'] },
    }),
    handle: async (call) => {
      const { session, body } = call
      const given = { ...guesserOf(call), session, code: body.code }
      const { recoveryCodes: codes, cookie } = await confirmTotp(core, given)
      const cookies = [sessionCookie(core.config, cookie, core.now())]
      return { ...json(200, { recoveryCodes: codes }), cookies }
    },
  })

export const remove = ({ core }: RouteDeps) =>
  userOperation({
    ...shared,
    summary: 'Turn the second factor off',
    description:
      'All other sessions and the links that reset the password end; this session goes on with the cookie of the response.',
    body: z.object({ password: presentPassword, code: loginCode }),
    responses: { 204: { description: 'It is off' } },
    example: () => ({
      request: { password: 'correct horse battery staple', code: '081804' },
      status: 204,
    }),
    handle: async (call) =>
      whileClientWaits(call.incoming, async (signal) => {
        const { session, body } = call
        const given = { ...passwordOf(call, signal), code: body.code, session }
        const cookie = await disableTotp(core, given)
        return { ...noContent(), cookies: [sessionCookie(core.config, cookie, core.now())] }
      }),
  })

function passwordOf(call: UserCall<unknown, { password: string }>, signal: AbortSignal) {
  return { ...guesserOf(call), password: call.body.password, field: 'password', signal }
}
