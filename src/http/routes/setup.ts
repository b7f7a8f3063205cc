/** `POST /setup`: the first user of a server, made in a browser. */
import type { z } from 'zod'
import { MINUTE_MS } from '../../base/clock.ts'
import { issueCookie } from '../../features/tenancy/accounts/sessions/sessions.ts'
import { setUp as setUpServer } from '../../features/tenancy/accounts/setup/set-up.ts'
import { loginResult, setupRequest } from '../../records/login.ts'
import { createWindowLimit, enterLimit } from '../../work/limiter.ts'
import { MAX_ACCOUNT_BYTES } from '../body/account-bytes.ts'
import { refuseClearText } from '../exchange/clear-text.ts'
import { loginCookies, readCookie, sessionCookieName } from '../exchange/cookies.ts'
import { clientOf } from '../exchange/session.ts'
import { readerLanguage } from '../pages/reader-language.ts'
import { json } from '../response.ts'
import { type Call, openOperation, type RouteDeps } from '../route.ts'
import { addressGroup, addressNetwork } from '../server/client-address.ts'
import { whileClientWaits } from '../server/client-gone.ts'

const TRIES_PER_MINUTE = 5

export const setUp = ({ core, proxies }: RouteDeps) => {
  const tries = createWindowLimit({ limit: TRIES_PER_MINUTE, windowMs: MINUTE_MS, now: core.now })
  const publicText = 'Too many tries to set this server up from your network in a minute.'
  const enter = (network: string) =>
    enterLimit(tries, network, { publicText, details: { limit: TRIES_PER_MINUTE } })
  return openOperation({
    growsDisk: true,
    tag: 'Authentication',
    summary: 'Set the server up',
    description:
      'Makes the first user, an operator with a verified address, and logs the user in: the response sets the cookie of ' +
      'the session, as that of a login. With `projectName` it makes a project of the user too. This works while no user may log ' +
      'in, with the token of the link in `data_dir/setup-link`: once, within 24 hours. For any other token, and once the ' +
      'server is set up, the response is a 404. Plain HTTP is refused (403), but not from a loopback client to a ' +
      `loopback listener. At most ${TRIES_PER_MINUTE} tries a minute from one IP address, or one IPv6 network (/64).`,
    body: setupRequest,
    maxBodyBytes: MAX_ACCOUNT_BYTES,
    responses: { 200: { description: 'The new user', schema: loginResult } },
    refusals: [403, 404, 409, 429, 503],
    example: () => ({
      request: {
        token: '5f0c7b7e9d4b5a6f8e1d2c3b4a59687f5f0c7b7e9d4b5a6f8e1d2c3b4a59687f',
        email: 'olga@example.com',
        password: 'correct horse battery',
        projectName: 'Harbour',
      },
      status: 200,
      response: {
        success: true,
        data: { id: '0199a7c0-0000-7000-8000-000000000b02', email: 'olga@example.com' },
      },
    }),
    handle: async (call) => {
      refuseClearText({ config: core.config, proxies }, call)
      const { user, session, device } = await whileClientWaits(call.incoming, (signal) =>
        setUpServer({ ...core, enter }, { ...toFirstUser(core, call), signal }),
      )
      const cookie = await issueCookie(core, session)
      const cookies = loginCookies(core.config, { session: cookie, device }, core.now())
      return { ...json(200, { success: true, data: user }), cookies }
    },
  })
}

function toFirstUser(
  { config }: Pick<RouteDeps['core'], 'config'>,
  { body, address, incoming }: Call<undefined, z.output<typeof setupRequest>>,
) {
  const { token, email, password, projectName } = body
  return {
    ...{ token, address: email.address, password, projectName },
    language: readerLanguage(incoming.headers['accept-language']),
    client: clientOf(incoming, address),
    presented: readCookie(incoming, sessionCookieName(config)),
    network: addressGroup(address),
    wideNetwork: addressNetwork(address),
  }
}
