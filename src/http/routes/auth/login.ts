/** Logging in and out. */
import { z } from 'zod'
import { type LoginResult, logIn } from '../../../features/tenancy/accounts/login/log-in.ts'
import { logOut } from '../../../features/tenancy/accounts/sessions/sessions.ts'
import { credentials, loginResult } from '../../../records/login.ts'
import { MAX_ACCOUNT_BYTES } from '../../body/account-bytes.ts'
import {
  clearedSessionCookie,
  DEVICE_COOKIE,
  loginCookies,
  readCookie,
  sessionCookieName,
} from '../../exchange/cookies.ts'
import { type HttpResponse, json } from '../../response.ts'
import { type Call, openOperation, type RouteDeps } from '../../route.ts'
import { addressGroup, addressNetwork } from '../../server/client-address.ts'
import { whileClientWaits } from '../../server/client-gone.ts'

/** One text for all reasons, so that it does not tell who has an account here. */
const REFUSED_TEXT = 'The email address or the password is wrong.'
const REFUSALS = {
  refused: { success: false, data: REFUSED_TEXT },
  'code-needed': {
    success: false,
    twoFactor: true,
    data: 'Enter the code of your authenticator app, or a recovery code.',
  },
  'code-wrong': {
    success: false,
    twoFactor: true,
    data: 'This code is wrong, or was used before.',
  },
} as const

const shared = {
  tag: 'Authentication',
  tagText: 'Logging in and out, signing up, and the links that the server mails.',
} as const

export const login = ({ core }: RouteDeps) =>
  openOperation({
    ...shared,
    summary: 'Log in',
    description:
      'Always begins a new session, whose cookie is in the response; the session of the cookie in the request ends. ' +
      'Users with a second factor send `code` too. Failures are limited by address and by account (429), and so are logins at a time (503).',
    body: credentials,
    maxBodyBytes: MAX_ACCOUNT_BYTES,
    responses: {
      200: { description: 'The user, or why the login was refused', schema: loginResult },
    },
    refusals: [403, 429, 503],
    example: () => ({
      request: { email: 'ada@example.com', password: 'correct horse battery staple' },
      status: 200,
      response: {
        success: true,
        data: { id: '0199a7c0-0000-7000-8000-000000000c01', email: 'ada@example.com' },
      },
    }),
    handle: async ({ body, incoming, address }) => {
      const { email, password, code } = body
      const outcome = await whileClientWaits(incoming, (signal) =>
        logIn(core, {
          address: email.address,
          password,
          code,
          network: addressGroup(address),
          wideNetwork: addressNetwork(address),
          client: { ip: address, userAgent: incoming.headers['user-agent'] ?? null },
          session: readCookie(incoming, sessionCookieName(core.config)),
          device: readCookie(incoming, DEVICE_COOKIE),
          signal,
        }),
      )
      return toResponse(core, outcome)
    },
  })

function toResponse(
  { config, now }: Pick<RouteDeps['core'], 'config' | 'now'>,
  outcome: LoginResult,
): HttpResponse {
  if (outcome.kind !== 'done') return json(200, REFUSALS[outcome.kind])
  const cookies = loginCookies(config, outcome, now())
  return { ...json(200, { success: true, data: outcome.user }), cookies }
}

const loggedOut = {
  200: { description: 'Also without a session', schema: z.literal(true) },
} as const

export const logout = ({ core }: RouteDeps) =>
  openOperation({
    ...shared,
    summary: 'Log out',
    description: 'Ends the session of the cookie.',
    responses: loggedOut,
    refusals: [403],
    example: () => ({ status: 200, response: true }),
    handle: (call) => endSession(core, call),
  })

/**
 * Logs out by a link. A link on another site must not log a user out: browsers tell where a request
 * comes from.
 */
export const followLogout = ({ core }: RouteDeps) =>
  openOperation({
    ...shared,
    summary: 'Log out by a link',
    description: 'Ends the session of the cookie, unless a page of another site leads here.',
    responses: loggedOut,
    refusals: [400],
    example: () => ({ status: 200, response: true }),
    handle: async (call) => {
      const isForeign = call.incoming.headers['sec-fetch-site'] === 'cross-site'
      return isForeign ? json(200, true) : endSession(core, call)
    },
  })

async function endSession(
  core: RouteDeps['core'],
  { incoming }: Call<unknown, unknown>,
): Promise<HttpResponse> {
  await logOut(core, readCookie(incoming, sessionCookieName(core.config)))
  return { ...json(200, true), cookies: [clearedSessionCookie(core.config)] }
}
