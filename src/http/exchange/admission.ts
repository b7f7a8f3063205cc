/**
 * Admits the caller of a request. The order of the checks is part of the API: host, origin and content type,
 * credentials, project, role, reset, disabled project, rate.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { projectDisabled } from '../../features/ground/directory.ts'
import type { RateVerdict } from '../../features/ground/requests/rate-limit.ts'
import { admitCaller, type Credentials } from '../../features/tenancy/accounts/callers/admit.ts'
import { type GivenKey, readKey } from '../../features/tenancy/accounts/callers/authenticate.ts'
import {
  type Caller,
  callerName,
  type KnownCallers,
  projectOf,
  ruleOf,
} from '../../features/tenancy/accounts/callers/caller.ts'
import { renewCookie } from '../../features/tenancy/accounts/sessions/sessions.ts'
import { isBodyless } from '../body/body.ts'
import { isDirect } from '../server/client-address.ts'
import { readCookie, sessionCookie, sessionCookieName } from './cookies.ts'
import { type Exchange, type ExchangeDeps, VERSION_HEADER } from './exchange.ts'
import { refuseOtherHost } from './own-host.ts'
import { isForOwnPages, refuseCrossSite } from './same-origin.ts'

/** If the body takes longer than this to arrive, the caller is admitted once more. */
const ADMISSION_MS = SECOND_MS
const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json$/
/** The most keys that are remembered for one connection. */
export const MAX_KNOWN_KEYS = 16
/**
 * The most characters of an Authorization field that is remembered: a key has 67, and may have
 * spaces around it.
 */
export const MAX_KNOWN_LENGTH = 100

type KeyReader = typeof readKey

const readers = new WeakMap<Socket, KeyReader>()

/** Sets the exchange's caller. @throws AppError */
export async function admit(deps: ExchangeDeps, exchange: Exchange): Promise<void> {
  const { callers } = exchange.route
  const { core } = deps
  refuseOtherHost(deps.findOtherHost, exchange.route, exchange.incoming)
  if (isForOwnPages(exchange.route)) refuseForgery(exchange, core.config.baseUrl)
  if (callers === 'anyone' || isMonitor(deps, exchange)) return
  const caller = await admitKnown(deps, exchange, callers)
  refuseForState(exchange, caller)
  const limiter = caller.kind === 'key' ? deps.limiters.keys : deps.limiters.sessions
  const verdict = limiter.take(callerName(caller))
  if (verdict !== undefined) {
    setRateHeaders(exchange.headers, verdict)
    if (!verdict.isAllowed) throw overLimit(verdict)
  }
  core.lastUsed.note(caller)
  if (caller.kind !== 'key') await renew(deps, exchange, caller)
}

/**
 * Admits the caller once more if the body took long: a body may take two minutes, and the session,
 * the role or the key may have ended meanwhile. The request does not count for rate limits again.
 * Returns undefined if the body took less than `ADMISSION_MS`.
 * @throws AppError
 */
export function admitAfterBody(deps: ExchangeDeps, exchange: Exchange): Promise<void> | undefined {
  const { caller, receivedAt } = exchange
  const { callers } = exchange.route
  if (caller === null || callers === 'anyone') return undefined
  if (deps.core.now() - receivedAt < ADMISSION_MS) return undefined
  return admitAgain(deps, exchange, callers)
}

async function admitAgain(
  deps: ExchangeDeps,
  exchange: Exchange,
  callers: KnownCallers,
): Promise<void> {
  refuseForState(exchange, await admitKnown(deps, exchange, callers))
}

/** @throws AppError FORBIDDEN, UNSUPPORTED_MEDIA_TYPE */
function refuseForgery({ route, incoming }: Exchange, baseUrl: string): void {
  refuseCrossSite(incoming, baseUrl)
  const takesJson = route.takesStream === undefined && route.takesForm !== true
  if (takesJson) refuseOtherMedia(incoming)
}

/**
 * Whether the route admits operators and the client's address is in `http.metrics_allow`: such a
 * client needs no session.
 */
function isMonitor({ monitors, proxies }: ExchangeDeps, exchange: Exchange): boolean {
  const { route, address, incoming } = exchange
  if (route.callers !== 'operator or monitor') return false
  return monitors.has(address) && isDirect(incoming, proxies)
}

async function admitKnown(
  { core, version }: ExchangeDeps,
  exchange: Exchange,
  callers: KnownCallers,
): Promise<Caller> {
  const { route } = exchange
  const caller = await admitCaller(core, callers, credentialsOf(core, exchange), (known) => {
    if (known.kind !== 'key' && route.method !== 'GET' && exchange.caller === null) {
      refuseForgery(exchange, core.config.baseUrl)
    }
    exchange.caller = known
    if (known.kind !== 'key') exchange.headers[VERSION_HEADER] = version
  })
  if (caller.kind === 'member') exchange.query = withoutProject(exchange.query, caller.project.id)
  return caller
}

function credentialsOf({ config }: ExchangeDeps['core'], exchange: Exchange): Credentials {
  const { incoming, params, query, route } = exchange
  const { authorization, 'x-project-id': named } = incoming.headers
  const isCookieRead = authorization === undefined
  return {
    authorization,
    readKey: keyReaderOf(incoming.socket),
    cookie: isCookieRead ? readCookie(incoming, sessionCookieName(config)) : undefined,
    projectId:
      typeof named === 'string' ? named : route.method === 'GET' ? query.projectId : undefined,
    pathId: params.id,
  }
}

/** Removes `projectId`, by which a session names its project: strict query schemas would refuse it. */
function withoutProject(query: Exchange['query'], id: string): Exchange['query'] {
  const { projectId, ...others } = query
  return projectId?.toLowerCase() === id ? others : query
}

/** @throws AppError CONFLICT during a reset, PROJECT_DISABLED */
function refuseForState(exchange: Exchange, caller: Caller): void {
  const { route } = exchange
  const project = projectOf(caller)
  if (project === null || route.callers === 'anyone') return
  if (isLeaving(exchange, caller)) return
  if (project.resetSince !== null && ruleOf(route.callers).isData) throw underReset()
  // A reset disables the project too, but without a reason: then only routes on its data are
  // refused.
  const isRefused = project.resetSince === null || project.disabledReason !== null
  if (project.isDisabled && isRefused && !route.isRead) throw projectDisabled(project)
}

/** Whether the member leaves the project, which is allowed whatever the state of the project. */
function isLeaving({ route, params }: Exchange, caller: Caller): boolean {
  const isRemoval = route.method === 'DELETE' && params.userId !== undefined
  return isRemoval && caller.kind === 'member' && params.userId?.toLowerCase() === caller.user.id
}

function underReset(): AppError {
  return new AppError('CONFLICT', 'The project is being reset.', {
    details: { resource: 'project', state: 'resetting' },
    suggestion: 'Try again when GET /users/@me/projects/:id/reset says that it is done.',
  })
}

/**
 * Renews the session's cookie if it is due. The response sets the new cookie even if the request
 * fails.
 */
async function renew(
  { core }: ExchangeDeps,
  exchange: Exchange,
  { session }: Exclude<Caller, { kind: 'key' }>,
): Promise<void> {
  if (core.disk.isLow() || !core.store.isWritable()) return
  const cookie = await renewCookie(core, session)
  if (cookie !== undefined) exchange.cookies.push(sessionCookie(core.config, cookie, core.now()))
}

function setRateHeaders(headers: Record<string, string>, verdict: RateVerdict): void {
  headers['ratelimit-limit'] = String(verdict.limit)
  headers['ratelimit-remaining'] = String(verdict.remaining)
  headers['ratelimit-reset'] = String(verdict.resetSeconds)
}

function overLimit({ limit, retryAfterSeconds }: RateVerdict): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', `More than ${limit} requests in a minute.`, {
    details: { limit, retryAfter: Math.max(1, retryAfterSeconds) },
  })
}

/**
 * Refuses a body other than JSON where a login session begins or acts. Any page can make a browser
 * send a form, so a form is refused even if the browser does not say where the request comes from.
 * Routes of project keys ignore the content type, because some clients of this API family set a
 * wrong one, and no page can send a key by a form. A body without a content type passes, because
 * every form has one.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE
 */
function refuseOtherMedia(incoming: IncomingMessage): void {
  const given = incoming.headers['content-type']
  if (given === undefined || isBodyless(incoming)) return
  const [type = ''] = given.split(';', 1)
  if (JSON_TYPE.test(type.trim().toLowerCase())) return
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON.', {
    details: { acceptedTypes: ['application/json'] },
    suggestion: 'Send JSON with the header "Content-Type: application/json".',
  })
}

/**
 * Reads keys as `readKey` does, once for each key of a connection. A client sends the same key with every request,
 * and the digest of a key costs more than the look-up of its project, which is made for each request.
 *
 * A map finds a header field by its hash, so the time does not tell how much of a guess is right, also when a
 * proxy sends the requests of many clients on one connection. Fields, with the secret keys in them, are forgotten
 * with the connection. Long fields are not kept, so that a stranger's connection holds little.
 */
function keyReaderOf(socket: Socket): KeyReader {
  const known = readers.get(socket)
  if (known !== undefined) return known
  const reader = createKeyReader()
  readers.set(socket, reader)
  return reader
}

/** `read` is for tests. */
export function createKeyReader(read: KeyReader = readKey): KeyReader {
  const keys = new Map<string, GivenKey>()
  return (authorization = '') => {
    const known = keys.get(authorization)
    if (known !== undefined) return known
    const key = read(authorization)
    const isKey = key !== undefined && key.kind !== 'unknown'
    if (!isKey || authorization.length > MAX_KNOWN_LENGTH) return key
    if (keys.size >= MAX_KNOWN_KEYS) keys.clear()
    keys.set(authorization, key)
    return key
  }
}
