/**
 * Logging in with an account at another provider: the browser goes out to the provider, and comes back to
 * the callback with a code. It ends at `/app`, or at `/app/login?error=<code>`. No URL or header of the
 * request decides where it goes.
 */
import { type AppError, notFound } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import {
  ATTEMPT_MS,
  createLoginAttempts,
  createNetworkLimit,
} from '../../features/tenancy/accounts/oauth/attempts.ts'
import { logInWithProvider } from '../../features/tenancy/accounts/oauth/log-in.ts'
import {
  LoginFailure,
  type LoginFailureCode,
} from '../../features/tenancy/accounts/oauth/login-failure.ts'
import type {
  IdentityProvider,
  ProviderName,
} from '../../features/tenancy/accounts/oauth/provider.ts'
import { enveloped } from '../../records/envelope.ts'
import { identityProviders } from '../../records/login.ts'
import {
  formatCookie,
  isSecure,
  readCookie,
  sessionCookie,
  sessionCookieName,
} from '../exchange/cookies.ts'
import { logError, toAppError } from '../exchange/error-response.ts'
import { ownPath } from '../pages/own-path.ts'
import { readerLanguage } from '../pages/reader-language.ts'
import { type HttpResponse, json } from '../response.ts'
import { type Call, openOperation, type RouteDeps } from '../route.ts'
import { addressGroup } from '../server/client-address.ts'

/**
 * The most logins that a network may begin in a minute, and the most answers of providers that it
 * may bring back.
 */
const PER_MINUTE = 60
const LOGIN_FAILED = 'login with a provider failed'

type ProviderCall = Call<undefined, undefined>

export const showConfig = ({ core }: Pick<RouteDeps, 'core'>) => {
  const providers = core.identityProviders
  const oidc = providers.find('oidc')
  const data = {
    github: providers.find('github') !== undefined,
    google: providers.find('google') !== undefined,
    oidc: oidc === undefined ? null : { name: oidc.label },
  }
  return openOperation({
    tag: 'Authentication',
    summary: 'Show with which providers people log in',
    description:
      'A browser begins at `/oauth/<github|google|oidc>/outbound`, which redirects to the provider. It comes back to `/oauth/<…>/callback` and ends at `/app`, or at `/app/login?error=<code>`.',
    responses: {
      200: {
        description: 'The providers that are configured',
        schema: enveloped(identityProviders),
      },
    },
    refusals: [400],
    example: () => ({
      status: 200,
      response: { success: true, data: { github: false, google: false, oidc: null } },
    }),
    handle: () => json(200, { success: true, data }),
  })
}

const shared = {
  tag: 'Authentication',
  isHidden: true,
  isUnlogged: true,
  responses: { 302: { description: 'On to the next page' } },
} as const

export const begin = ({ core }: Pick<RouteDeps, 'core'>) => {
  const attempts = createLoginAttempts(core)
  const limit = createNetworkLimit(PER_MINUTE, core.now)
  return openOperation({
    ...shared,
    summary: 'Send the browser to the provider',
    handle: (call) => {
      const provider = getProvider(core, call)
      const failure = { provider: provider.name, peer: call.address, requestId: call.requestId }
      return orLoginPage(core, failure, async () => {
        limit(addressGroup(call.address))
        const { attempt, cookie } = await attempts.begin(provider.name)
        const url = await provider.authorizationUrl(attempt)
        const maxAgeSeconds = ATTEMPT_MS / 1000
        return redirect(url.href, [attemptCookie(core, provider.name, cookie, maxAgeSeconds)])
      })
    },
  })
}

export const finish = ({ core }: Pick<RouteDeps, 'core'>) => {
  const attempts = createLoginAttempts(core)
  const limit = createNetworkLimit(PER_MINUTE, core.now)

  async function logIn(provider: IdentityProvider, call: ProviderCall): Promise<string> {
    const { incoming, address: ip } = call
    const answer = answerOf(call)
    const cookie = readCookie(incoming, attemptCookieName(core, provider.name))
    const attempt = await attempts.take(provider.name, { cookie, states: answer.getAll('state') })
    const user = await provider.identify(answer, attempt)
    const session = await logInWithProvider(core, {
      provider,
      user,
      client: { ip, userAgent: incoming.headers['user-agent'] ?? null },
      presented: readCookie(incoming, sessionCookieName(core.config)),
      language: readerLanguage(incoming.headers['accept-language']),
    })
    return sessionCookie(core.config, session, core.now())
  }

  return openOperation({
    ...shared,
    summary: "Take the provider's answer and begin a session",
    handle: (call) => {
      const provider = getProvider(core, call)
      const failure = { provider: provider.name, peer: call.address, requestId: call.requestId }
      return orLoginPage(core, failure, async () => {
        limit(addressGroup(call.address))
        const response = await orLoginPage(core, failure, async () =>
          redirect(ownPath(core.config, '/app'), [await logIn(provider, call)]),
        )
        const cleared = attemptCookie(core, provider.name, '', 0)
        return { ...response, cookies: [...(response.cookies ?? []), cleared] }
      })
    },
  })
}

/** @throws AppError RESOURCE_NOT_FOUND */
function getProvider({ identityProviders }: Core, { params }: ProviderCall): IdentityProvider {
  const { provider: name = '' } = params
  const provider = identityProviders.find(name)
  if (provider !== undefined) return provider
  throw notFound('provider', name, 'Logging in with this provider is not configured.')
}

type LoginContext = { provider: ProviderName; peer: string | null; requestId: string }

/**
 * Answers a failed login by a redirect to the page for logins, which has a text for the code of the
 * failure: the client is a browser, whose user could do nothing with the JSON of an error.
 */
async function orLoginPage(
  { config, log }: Pick<Core, 'config' | 'log'>,
  context: LoginContext,
  act: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await act()
  } catch (error) {
    const code = error instanceof LoginFailure ? error.code : codeOf(error)
    if (error instanceof LoginFailure) logFailure(log, context, error)
    else logFault(log, context, toAppError(error))
    return redirect(ownPath(config, `/app/login?error=${code}`), [])
  }
}

function logFailure(log: Core['log'], context: LoginContext, { code, message }: LoginFailure) {
  const level = code === 'provider_error' ? 'warn' : 'info'
  log[level]({ ...context, code, reason: message }, LOGIN_FAILED)
}

/** Logs a failed login even if the server has no fault, because the browser gets no text of the error. */
function logFault(log: Core['log'], context: LoginContext, error: AppError): void {
  if (error.status >= 500) logError(log, error, context.requestId)
  else log.warn({ ...context, code: error.code, reason: error.message }, LOGIN_FAILED)
}

/** The code for an error that is no `LoginFailure`. */
function codeOf(error: unknown): LoginFailureCode {
  return toAppError(error).status === 503 ? 'unavailable' : 'other'
}

function redirect(location: string, cookies: readonly string[]): HttpResponse {
  return { status: 302, body: '', headers: { location }, cookies }
}

/**
 * The parameters of the callback as they came. Repeated parameters stay, so that openid-client
 * refuses them.
 */
function answerOf({ incoming }: ProviderCall): URLSearchParams {
  const { url = '' } = incoming
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at))
}

function attemptCookieName({ config }: Core, provider: ProviderName): string {
  return `${isSecure(config) ? '__Host-' : ''}pillarbox_login_${provider}`
}

function attemptCookie(
  core: Core,
  provider: ProviderName,
  value: string,
  maxAgeSeconds: number,
): string {
  return formatCookie(core.config, {
    name: attemptCookieName(core, provider),
    value,
    maxAgeSeconds,
  })
}
