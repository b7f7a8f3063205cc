/** `POST /auth/signup`. */
import type { z } from 'zod'
import type { Core } from '../../../core/core.ts'
import { issueCookie } from '../../../features/tenancy/accounts/sessions/sessions.ts'
import {
  type SignUpLimits,
  signUp as signUpUser,
} from '../../../features/tenancy/accounts/sign-up/sign-up.ts'
import { newCredentials, signUpResult } from '../../../records/login.ts'
import { createHourlyLimit } from '../../../work/limiter.ts'
import { loginCookies, readCookie, sessionCookieName } from '../../exchange/cookies.ts'
import { readerLanguage } from '../../pages/reader-language.ts'
import { json } from '../../response.ts'
import { type Call, openOperation, type RouteDeps } from '../../route.ts'
import { addressGroup, addressNetwork } from '../../server/client-address.ts'
import { whileClientWaits } from '../../server/client-gone.ts'

const SIGN_UPS_PER_HOUR = 5
/** Refusals are limited, because each tells that an address has an account. */
const REFUSALS_PER_HOUR = 20

export const signUp = ({ core }: RouteDeps) => {
  const limits = createLimits(core)
  return openOperation({
    growsDisk: true,
    tag: 'Authentication',
    summary: 'Sign up',
    description:
      'Makes an account and logs it in: the response sets the cookie of the session; the session of ' +
      'the cookie in the request ends. If the server sends mail to its users, a mail with a link ' +
      'follows, and until the address is verified the session may only call `/auth/*` and `/users/@me`. `success` is false if sign-ups are ' +
      'disabled, the address has an account, or the server does not admit it. Before the server is set up (`setup.needed` of ' +
      '`GET /config`) the response is a 409. At most ' +
      `${SIGN_UPS_PER_HOUR} sign-ups an hour from one IP address, or one IPv6 network (/64).`,
    body: newCredentials,
    responses: {
      200: { description: 'The new user, or the reason why not', schema: signUpResult },
    },
    refusals: [403, 409, 429, 503],
    example: () => ({
      request: { email: 'grace@example.com', password: 'correct horse battery' },
      status: 200,
      response: {
        success: true,
        data: { id: '0199a7c0-0000-7000-8000-000000000b01', email: 'grace@example.com' },
      },
    }),
    handle: async (call) => {
      const signedUp = await whileClientWaits(call.incoming, (signal) =>
        signUpUser({ ...core, limits }, { ...toAccount(core, call), signal }),
      )
      if ('refusal' in signedUp) return json(200, { success: false, data: signedUp.refusal })
      const { user, session, device } = signedUp
      const cookie = await issueCookie(core, session)
      const cookies = loginCookies(core.config, { session: cookie, device }, core.now())
      return { ...json(200, { success: true, data: user }), cookies }
    },
  })
}

function toAccount(
  { config }: Pick<Core, 'config'>,
  { body, address, incoming }: Call<undefined, z.infer<typeof newCredentials>>,
) {
  const { headers } = incoming
  return {
    address: body.email,
    password: body.password,
    language: readerLanguage(headers['accept-language']),
    client: { ip: address, userAgent: headers['user-agent'] ?? null },
    presented: readCookie(incoming, sessionCookieName(config)),
    network: addressGroup(address),
    wideNetwork: addressNetwork(address),
  }
}

function createLimits({ now }: Pick<Core, 'now'>): SignUpLimits {
  const publicText = 'Too many sign-ups from your network in an hour.'
  return {
    created: createHourlyLimit({ limit: SIGN_UPS_PER_HOUR, now, publicText }),
    refused: createHourlyLimit({ limit: REFUSALS_PER_HOUR, now, publicText }),
  }
}
