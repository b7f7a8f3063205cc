/** The end of a session by a form of a page that uses no scripts, such as that of an invitation. */
import { findSession } from '../../features/tenancy/accounts/sessions/find.ts'
import { endSession } from '../../features/tenancy/accounts/sessions/sessions.ts'
import { clearedSessionCookie, readCookie, sessionCookieName } from '../exchange/cookies.ts'
import { refuseCrossSite } from '../exchange/same-origin.ts'
import { ownPath } from '../pages/own-path.ts'
import { openOperation, type RouteDeps } from '../route.ts'

/** Forms of other sites are refused: they would end the sessions of their readers. */
export const logOut = ({ core }: Pick<RouteDeps, 'core'>) =>
  openOperation({
    isHidden: true,
    tag: 'Pages',
    summary: 'End the session',
    responses: { 303: { description: 'On to the sign-in' } },
    handle: async ({ incoming }) => {
      const { config, store } = core
      refuseCrossSite(incoming, config.baseUrl)
      const cookie = readCookie(incoming, sessionCookieName(config))
      const found = cookie === undefined ? undefined : await findSession(core, cookie)
      if (found !== undefined) {
        const session = { userId: found.user.id, id: found.session.id }
        await store.write((tx) => endSession(tx, session))
      }
      const headers = { location: ownPath(config, '/app/login') }
      return { status: 303, body: '', headers, cookies: [clearedSessionCookie(config)] }
    },
  })
