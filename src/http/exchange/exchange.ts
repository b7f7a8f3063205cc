/**
 * One request and its response, the same for every route. The order of the checks is the API's
 * (contract 1.1): key, disabled project, rate, idempotency key, body, and then the route itself.
 * What any of them throws becomes the response; nothing of a request outlives it but its line in
 * the request log, which nobody waits for.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { AppError } from '../../errors.ts'
import { authenticate } from '../../features/accounts/authenticate.ts'
import type { Core } from '../../features/core.ts'
import type { Project } from '../../features/messages/accept/plan.ts'
import { refuseUsedKey } from '../../features/requests/idempotency.ts'
import type { RequestLog } from '../../features/requests/log.ts'
import type { RateLimiter, RateVerdict } from '../../features/requests/rate-limit.ts'
import { type BodyLimits, readForm, readJson } from '../body/body.ts'
import type { BodyAllowance, BodyShare } from '../body/body-allowance.ts'
import { type BodyStream, openBody } from '../body/body-stream.ts'
import type { RawCall, Reply, Route } from '../route.ts'
import { type AddressList, clientAddress } from '../server/client-address.ts'
import { inviteBody } from '../server/expectation.ts'
import { isLongUnderWay, type LastReply, replyAndLinger } from '../server/linger.ts'
import { refuseUnreadableTarget } from '../server/request-target.ts'
import { errorReply, logError, toAppError } from './error-response.ts'
import { settle } from './request-record.ts'
import { commonHeaders } from './response-headers.ts'
import { toStream } from './response-stream.ts'
import type { Traffic } from './traffic.ts'

/** What the exchanges of a server share. */
export type Hall = {
  core: Core
  proxies: AddressList
  limiter: RateLimiter
  traffic: Traffic
  /** The memory for bodies. */
  bodies: BodyAllowance
  requestLog: Pick<RequestLog, 'record'>
  /** Aborted when the server begins to stop. */
  stopping: AbortSignal
}

/** What hono has made of a request when its route is found. */
export type Arrival = {
  incoming: IncomingMessage
  outgoing: ServerResponse
  path: string
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
}

export type Exchange = Arrival & {
  id: string
  route: Route
  isPublicApi: boolean
  receivedAt: number
  address: string | null
  project: Project | null
  requestBytes: number
  /** Of the key that was shown; null without one. */
  keyName: string | null
  /** What its body holds, once it is read. */
  share: BodyShare | undefined
  stream: BodyStream | undefined
  headers: Record<string, string>
  /** Runs a part of it as its project's: what that scans does not delay others. */
  within<T>(act: () => T): T
}

/** A form of ours has one short field. */
const MAX_FORM_BYTES = 16 * 1024

/** Somebody has to make room first. */
const FULL_RETRY_AFTER = 60

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/

/** Answers one request to `route`; never rejects. */
export async function answer(hall: Hall, route: Route, arrival: Arrival): Promise<Response> {
  const exchange = open(hall, route, arrival)
  try {
    return await finish(hall, exchange, await runSteps(hall, exchange))
  } catch (thrown) {
    // What has been read of the body is given up, and room for it before the answer is taken.
    exchange.share?.release()
    const error = toAppError(thrown)
    logError(hall.core.log, error, exchange.id)
    return await finish(hall, exchange, await toRefusal(hall, exchange, error), error)
  } finally {
    exchange.share?.release()
  }
}

async function toRefusal({ core }: Hall, exchange: Exchange, error: AppError): Promise<Reply> {
  const { id: requestId, isPublicApi, route, incoming } = exchange
  const plain = errorReply(error, { requestId, isPublicApi, at: core.now() })
  if (route.showError === undefined) return plain
  const shown = await route.showError(error, incoming)
  return { ...shown, headers: { ...plain.headers, ...shown.headers } }
}

/** The id of a request: its caller's own where that can stand in a log (section 0). */
export function requestIdOf(incoming: IncomingMessage): string {
  const given = incoming.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

function open({ core, proxies, stopping }: Hall, route: Route, arrival: Arrival): Exchange {
  const { incoming, outgoing, path } = arrival
  const id = requestIdOf(incoming)
  const isPublicApi = path.startsWith('/v1/')
  const headers = commonHeaders(isPublicApi)
  headers['x-request-id'] = id
  const address = clientAddress(incoming, proxies)
  const invite = () => inviteBody(incoming, outgoing)
  return {
    ...arrival,
    id,
    route,
    isPublicApi,
    receivedAt: core.now(),
    address,
    project: null,
    requestBytes: 0,
    keyName: null,
    share: undefined,
    stream: route.takesStream === undefined ? undefined : openBody(incoming, { stopping, invite }),
    headers,
    within: (act) => act(),
  }
}

async function runSteps(hall: Hall, exchange: Exchange): Promise<Reply> {
  const { route, incoming } = exchange
  // A broken token is answered as any other that is none of ours (S21, S22).
  if (!route.isUnlogged) refuseUnreadableTarget(incoming)
  if (route.permission !== 'none') await admit(hall, exchange, route.permission)
  const idempotencyKey = route.takesIdempotencyKey ? readIdempotencyKey(incoming) : undefined
  if (idempotencyKey !== undefined && exchange.project !== null) {
    const { path } = exchange
    const projectId = exchange.project.id
    await refuseUsedKey(hall.core, { projectId, key: idempotencyKey, method: route.method, path })
  }
  // After the key: what was accepted before is told, room or none.
  const isRefused = route.growsDisk && hall.core.disk.isLow()
  if (isRefused && route.protects === undefined) throw noRoom()
  const body = route.body === undefined ? undefined : await takeBody(hall, exchange)
  if (isRefused && route.protects?.(body) !== true) throw noRoom()
  return exchange.within(() => route.run(toCall(hall, exchange, { body, idempotencyKey })))
}

/** @throws AppError MISSING_AUTH, INVALID_API_KEY, PROJECT_DISABLED, RATE_LIMIT_EXCEEDED */
async function admit(
  { core, limiter }: Hall,
  exchange: Exchange,
  permission: 'secret' | 'any',
): Promise<void> {
  const { authorization } = exchange.incoming.headers
  const { project, key } = await authenticate(core, authorization, permission)
  exchange.project = project
  const caller = { key: project.id, isJob: false }
  exchange.within = (act) => core.store.scanFor(caller, act)
  if (project.isDisabled && exchange.route.method !== 'GET') {
    throw new AppError('PROJECT_DISABLED', 'This project is disabled.')
  }
  exchange.keyName = `${key} ${project.id}`
  const verdict = limiter.take(exchange.keyName)
  if (verdict === undefined) return
  tellLimit(exchange.headers, verdict)
  if (!verdict.isAllowed) throw limited(verdict)
}

function noRoom(): AppError {
  return new AppError('INSUFFICIENT_STORAGE', 'Nothing more can be stored at the moment.', {
    details: { retryAfter: FULL_RETRY_AFTER },
  })
}

function tellLimit(headers: Record<string, string>, verdict: RateVerdict): void {
  headers['ratelimit-limit'] = String(verdict.limit)
  headers['ratelimit-remaining'] = String(verdict.remaining)
  headers['ratelimit-reset'] = String(verdict.resetSeconds)
}

function limited({ limit, retryAfterSeconds }: RateVerdict): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', `More than ${limit} requests in a minute.`, {
    details: { limit, retryAfter: Math.max(1, retryAfterSeconds) },
  })
}

function readIdempotencyKey(incoming: IncomingMessage): string | undefined {
  const given = incoming.headers['idempotency-key']
  if (given === undefined) return undefined
  if (typeof given === 'string' && IDEMPOTENCY_KEY.test(given)) return given
  throw new AppError(
    'BAD_REQUEST',
    'The Idempotency-Key must be 1 to 255 printable ASCII characters.',
  )
}

async function takeBody(hall: Hall, exchange: Exchange): Promise<unknown> {
  const { incoming, route } = exchange
  if (!route.takesForm) return takeJson(hall, exchange, route.maxBodyBytes)
  const limits = bodyLimits(hall, exchange, MAX_FORM_BYTES)
  const { value, sizeBytes } = await readForm(incoming, limits)
  exchange.requestBytes = sizeBytes
  return value
}

async function takeJson(hall: Hall, exchange: Exchange, maxBytes: number): Promise<unknown> {
  const limits = bodyLimits(hall, exchange, maxBytes)
  const { value, sizeBytes } = await readJson(exchange.incoming, limits)
  exchange.requestBytes = sizeBytes
  return value
}

/** The share is opened here, when the key is known. */
function bodyLimits({ bodies }: Hall, exchange: Exchange, maxBytes: number): BodyLimits {
  const { address, keyName: key, incoming, outgoing } = exchange
  exchange.share ??= bodies.open({ address, key })
  return { maxBytes, share: exchange.share, invite: () => inviteBody(incoming, outgoing) }
}

function toCall(
  hall: Hall,
  exchange: Exchange,
  { body, idempotencyKey }: Pick<RawCall, 'body' | 'idempotencyKey'>,
): RawCall {
  const { id: requestId, receivedAt, path, address, incoming, params, query } = exchange
  const { stream, project } = exchange
  return {
    requestId,
    receivedAt,
    path,
    address,
    incoming,
    params,
    query,
    body,
    stream,
    readJson: (maxBytes) => takeJson(hall, exchange, maxBytes),
    idempotencyKey,
    project,
  }
}

async function finish(
  hall: Hall,
  exchange: Exchange,
  reply: Reply,
  error?: AppError,
): Promise<Response> {
  const { headers, incoming } = exchange
  const { status, body } = reply
  if (hall.stopping.aborted) headers.connection = 'close'
  Object.assign(headers, reply.headers)
  if (typeof body === 'string' || body instanceof Uint8Array) {
    settle(hall, exchange, { status, sizeBytes: Buffer.byteLength(body), error })
    if (isLongUnderWay(incoming)) return lastReply(exchange, { status, headers, body })
    return new Response(status === 204 ? null : body, { status, headers })
  }
  if (incoming.method === 'HEAD') {
    // Nobody is going to ask for its pieces, nor say that there is no need of them.
    void body[Symbol.asyncIterator]().return?.()
    settle(hall, exchange, { status, sizeBytes: 0, error })
    return new Response(null, { status, headers })
  }
  const stream = toStream(body, {
    onEnd({ sizeBytes, error: thrown }) {
      const failure = thrown === undefined ? undefined : toAppError(thrown)
      if (failure !== undefined) logError(hall.core.log, failure, exchange.id)
      settle(hall, exchange, { status, sizeBytes, error: failure })
    },
    cut: () => incoming.destroy(),
    within: exchange.within,
  })
  return new Response(stream, { status, headers })
}

async function lastReply(exchange: Exchange, reply: LastReply): Promise<Response> {
  const { incoming, outgoing, route } = exchange
  await replyAndLinger(incoming, outgoing, { reply, maxBytes: route.maxBodyBytes })
  return RESPONSE_ALREADY_SENT
}
