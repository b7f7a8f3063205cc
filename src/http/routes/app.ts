/**
 * The pages at `/app`, where logins begin and end in a browser, until there is a dashboard. They use no
 * scripts, and show nothing that a URL says.
 */
import { z } from 'zod'
import { AppError } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import { listOwnNames } from '../../features/tenancy/accounts/projects/own-projects.ts'
import { findSession } from '../../features/tenancy/accounts/sessions/find.ts'
import { endSession } from '../../features/tenancy/accounts/sessions/sessions.ts'
import { type Language, matchLanguage } from '../../texts/languages.ts'
import { clearedSessionCookie, readCookie, sessionCookieName } from '../exchange/cookies.ts'
import { refuseCrossSite } from '../exchange/same-origin.ts'
import { appErrorView, homeView, loginView } from '../pages/app-views.ts'
import { NO_SUCH_PAGE } from '../pages/layout.ts'
import { ownPath } from '../pages/own-path.ts'
import { readerLanguage } from '../pages/reader-language.ts'
import type { HttpResponse } from '../response.ts'
import { openOperation, type RawCall, type RouteDeps } from '../route.ts'

type Deps = Pick<RouteDeps, 'core' | 'layout'>
type Incoming = RawCall['incoming']

/** The page of the guide on logging in, projects and the second factor. */
const GUIDE = '/docs/guide/accounts'
const MAX_PROJECTS = 20

const loginQuery = z.object({ error: z.string().optional() })

export const showHome = ({ core, layout }: Deps) =>
  openOperation({
    ...sharedShape({ core, layout }),
    summary: 'Show who has logged in',
    handle: async ({ incoming }) => {
      const found = await findPresented(core, incoming)
      if (found === undefined) return redirect(core, '/app/login')
      const { id, address, language } = found.user
      return layout(
        homeView({
          language: matchLanguage(language) ?? languageOf(incoming),
          address,
          projects: await listOwnNames(core, id, MAX_PROJECTS),
          baseUrl: core.config.baseUrl,
          docs: ownPath(core.config, GUIDE),
          logOut: ownPath(core.config, '/app/logout'),
        }),
      )
    },
  })

export const showLogin = ({ core, layout }: Deps) => {
  // The links have the host of `base_url`, so that the cookie is set there: the provider sends the browser
  // back to that host.
  const providers = core.identityProviders
    .list()
    .map(({ name, label }) => ({ label, url: `${core.config.baseUrl}/oauth/${name}/outbound` }))
  return openOperation({
    ...sharedShape({ core, layout }),
    summary: 'Show how to log in, and why a login failed',
    query: loginQuery,
    handle: ({ incoming, query }) =>
      layout(
        loginView({
          language: languageOf(incoming),
          failure: query.error,
          providers,
          isSignUpOpen: !core.config.accounts.disableSignups,
          baseUrl: core.config.baseUrl,
          docs: ownPath(core.config, GUIDE),
        }),
      ),
  })
}

/** Forms of other sites are refused: they would end the sessions of their readers. */
export const logOut = ({ core, layout }: Deps) =>
  openOperation({
    ...sharedShape({ core, layout }),
    summary: 'End the session',
    handle: async ({ incoming }) => {
      refuseCrossSite(incoming, core.config.baseUrl)
      const found = await findPresented(core, incoming)
      if (found !== undefined) {
        const session = { userId: found.user.id, id: found.session.id }
        await core.store.write((tx) => endSession(tx, session))
      }
      return redirect(core, '/app/login', [clearedSessionCookie(core.config)])
    },
  })

export const showUnknown = ({ core, layout }: Deps) =>
  openOperation({
    ...sharedShape({ core, layout }),
    summary: 'Refuse an unknown page',
    handle: () => {
      throw new AppError('RESOURCE_NOT_FOUND', NO_SUCH_PAGE)
    },
  })

function sharedShape({ core, layout }: Deps) {
  return {
    isHidden: true,
    tag: 'Pages',
    responses: { 200: { description: 'A page' } },
    showError: (error: AppError, incoming: Incoming) =>
      layout(appErrorView(error.status, languageOf(incoming), ownPath(core.config, '/app'))),
  } as const
}

async function findPresented(core: Core, incoming: Incoming) {
  const cookie = readCookie(incoming, sessionCookieName(core.config))
  return cookie === undefined ? undefined : findSession(core, cookie)
}

function languageOf({ headers }: Incoming): Language {
  return readerLanguage(headers['accept-language'])
}

function redirect({ config }: Core, path: string, cookies: readonly string[] = []): HttpResponse {
  return { status: 303, body: '', headers: { location: ownPath(config, path) }, cookies }
}
