/**
 * The state of a request, from routing to the end of its response, and the record of the request:
 * counters, and a line in the request log.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AppError, FieldWarning } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import type { RequestLog } from '../../features/ground/requests/log.ts'
import type { RateLimiter } from '../../features/ground/requests/rate-limit.ts'
import { newRequestId } from '../../features/ground/requests/request-id.ts'
import {
  type Caller,
  callerName,
  projectOf,
  userIdOf,
} from '../../features/tenancy/accounts/callers/caller.ts'
import { runFor, type WorkOwner } from '../../turns/owner.ts'
import type { BodyAllowance, BodyShare } from '../body/body-allowance.ts'
import { type BodyStream, openBody } from '../body/body-stream.ts'
import { commonHeaders } from '../response.ts'
import type { Route } from '../route.ts'
import { type AddressList, addressNetwork, clientAddress } from '../server/client-address.ts'
import { waitingClient } from '../server/client-gone.ts'
import { sendContinueFor } from '../server/unread-body.ts'
import type { AnswerAllowance, AnswerShare } from './answer-allowance.ts'
import type { Compressor } from './compression/compress.ts'
import { type ContentCoding, chooseCoding } from './compression/compressed-routes.ts'
import type { FindOtherHost } from './own-host.ts'
import { isFromOtherSite } from './same-origin.ts'
import type { Traffic } from './traffic.ts'

/** The rate limiters of project keys and of users who have logged in. */
export type RateLimiters = { keys: RateLimiter; sessions: RateLimiter }

/** The state that the exchanges of a server share. */
export type ExchangeDeps = {
  core: Core
  proxies: AddressList
  limiters: RateLimiters
  /** The addresses of `http.metrics_allow`. */
  monitors: AddressList
  findOtherHost: FindOtherHost
  traffic: Traffic
  /** The version of the program. */
  version: string
  /** The memory for request bodies. */
  bodies: BodyAllowance
  /** The memory for answers. */
  answers: AnswerAllowance
  requestLog: Pick<RequestLog, 'record'>
  compressor: Compressor
  /** Aborted when the server begins to stop. */
  stopping: AbortSignal
}

/** A request after routing. */
export type RoutedRequest = {
  incoming: IncomingMessage
  outgoing: ServerResponse
  path: string
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
}

export type Exchange = RoutedRequest & {
  id: string
  route: Route
  isPublicApi: boolean
  receivedAt: number
  address: string | null
  /** Null before authentication, and on routes for anyone. */
  caller: Caller | null
  requestBytes: number
  /** The memory that the body takes; undefined until the body is read. */
  share: BodyShare | undefined
  /** The memory that the answer takes; undefined for a short answer. */
  answer: AnswerShare | undefined
  /** The number of running functions that read for the answer. */
  readers: number
  stream: BodyStream | undefined
  /** The content coding of the answer; undefined for an answer that is not compressed. */
  coding: ContentCoding | undefined
  headers: Record<string, string>
  /** Values of Set-Cookie header fields. */
  cookies: string[]
  /** The warnings for an answer that is a JSON object. */
  warnings: FieldWarning[]
  /** The owner of the request's work; undefined before any work was done (`runForExchange`). */
  owner: WorkOwner | undefined
}

/**
 * Answers to sessions have the version of the server in this header: a page that an older version has sent
 * sees by it that it is out of date.
 */
export const VERSION_HEADER = 'x-pillarbox-version'

/** The path whose requests accept emails. */
const SEND_PATH = '/v1/send'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/**
 * Returns the id of the request: the client's own `X-Request-ID` if it is safe to log, else a new
 * id.
 */
function requestIdOf(incoming: IncomingMessage): string {
  const given = incoming.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newRequestId()
}

/** Returns the state of an exchange at its start. */
export function openExchange(deps: ExchangeDeps, route: Route, request: RoutedRequest): Exchange {
  const { core, proxies, stopping } = deps
  const { incoming, outgoing, path, params, query } = request
  const id = requestIdOf(incoming)
  const isPublicApi = path.startsWith('/v1/')
  const headers = commonHeaders(isPublicApi)
  headers['x-request-id'] = id
  const address = clientAddress(incoming, proxies)
  const exchange: Exchange = {
    ...{ incoming, outgoing, path, params, query },
    id,
    route,
    isPublicApi,
    receivedAt: core.now(),
    address,
    caller: null,
    requestBytes: 0,
    share: undefined,
    answer: undefined,
    readers: 0,
    stream: undefined,
    coding: route.isCompressed ? codingOf(incoming, route) : undefined,
    headers,
    cookies: [],
    warnings: [],
    owner: undefined,
  }
  const { takesStream } = route
  if (takesStream !== undefined) {
    const growTo = (bytes: number) => bodyShareOf(deps, exchange).growTo(bytes)
    const memory = takesStream.isKept ? { growTo } : {}
    const sendContinue = () => sendContinueFor(incoming, outgoing)
    exchange.stream = openBody(incoming, { stopping, sendContinue, ...memory })
  }
  return exchange
}

/**
 * Runs `act` so that its slow work waits in the line of the caller's project and delays no other
 * project (`turns/owner.ts`). A user who acts in no project has a line of its own, and so has the
 * network of a client without a caller. One owner stands for the whole request.
 */
export function runForExchange<T>(exchange: Exchange, act: () => T): T {
  exchange.owner ??= { key: lineOf(exchange), isJob: false, client: waitingClient(exchange) }
  return runFor(exchange.owner, act)
}

function lineOf({ caller, address }: Exchange): string {
  if (caller === null) return addressNetwork(address)
  return projectOf(caller)?.id ?? callerName(caller)
}

/** Opens the body's share of memory, whose limits depend on the address and the caller. */
export function bodyShareOf({ bodies }: ExchangeDeps, exchange: Exchange): BodyShare {
  const { address, caller } = exchange
  exchange.share ??= bodies.open({ address, key: caller === null ? null : callerName(caller) })
  return exchange.share
}

/**
 * Opens the answer's share of memory. The share is freed once the client has the answer or has
 * left, and no running work still reads for the answer.
 */
export function answerShareOf({ answers }: ExchangeDeps, exchange: Exchange): AnswerShare {
  const { address, caller, outgoing } = exchange
  if (exchange.answer !== undefined) return exchange.answer
  const owner = projectOf(caller)?.id ?? (caller === null ? null : callerName(caller))
  const answer = answers.open({ address, owner })
  exchange.answer = answer
  const leave = () => {
    answer.leave()
    if (exchange.readers === 0) answer.release()
  }
  if (outgoing.destroyed) leave()
  else outgoing.once('close', leave)
  return answer
}

/** Runs `work`, which reads for the answer: the answer's memory is not freed before `work` ends. */
export async function whileReading<T>(exchange: Exchange, work: () => Promise<T>): Promise<T> {
  exchange.readers += 1
  try {
    return await work()
  } finally {
    exchange.readers -= 1
    if (exchange.readers === 0 && exchange.outgoing.destroyed) exchange.answer?.release()
  }
}

type SentResponse = { status: number; sizeBytes: number; error: AppError | undefined }

/**
 * Counts a request, and writes it to the request log. A refused request without a caller is only
 * counted, because anyone can send any number of them.
 */
export function recordRequest(
  deps: ExchangeDeps,
  exchange: Exchange,
  response: SentResponse,
): void {
  const { core, traffic, requestLog } = deps
  const { route, receivedAt, caller } = exchange
  const { status, error } = response
  const durationMs = Math.max(0, core.now() - receivedAt)
  traffic.count(route, durationMs)
  const shown = {
    requestId: exchange.id,
    method: route.method,
    route: route.path,
    status,
    durationMs,
  }
  core.log.debug(shown, 'a request was answered')
  core.counters.add('pillarbox_http_responses_total', { status: String(status) })
  if (error !== undefined) core.counters.add('pillarbox_http_refusals_total', { code: error.code })
  if (status === 200 && route.path === SEND_PATH) {
    core.counters.observe('pillarbox_accept_duration_seconds', durationMs, 'api')
  }
  const isRefusal = (status >= 400 && status < 500) || error?.isOverload === true
  if (caller === null && isRefusal) {
    core.counters.add('pillarbox_http_strangers_refused_total', { status: String(status) })
    return
  }
  // On a nearly full disk the remaining space is for the outcomes of emails.
  if (core.disk.isLow()) return
  if (caller !== null || (status >= 500 && !route.isUnlogged)) {
    requestLog.record(toLogEntry(exchange, { ...response, durationMs }))
  }
}

function toLogEntry(
  exchange: Exchange,
  { status, sizeBytes, error, durationMs }: SentResponse & { durationMs: number },
) {
  const { id, incoming, path, caller, address, requestBytes, stream, receivedAt, warnings } =
    exchange
  return {
    id,
    method: incoming.method ?? 'GET',
    path,
    statusCode: status,
    durationMs,
    projectId: projectOf(caller)?.id ?? null,
    userId: userIdOf(caller),
    caller: caller === null ? null : caller.kind === 'key' ? caller.key : ('session' as const),
    ip: address,
    userAgent: incoming.headers['user-agent'] ?? null,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? warningText(warnings),
    requestSizeBytes: stream?.sizeBytes() ?? requestBytes,
    responseSizeBytes: sizeBytes,
    createdAt: receivedAt,
  }
}

/** Returns the first warning as one line of the request log. */
function warningText([first, ...others]: readonly FieldWarning[]): string | null {
  if (first === undefined) return null
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${first.field}: ${first.message}${more}`
}

/**
 * Chooses the coding of the answer. The answer to a request that a page of another site makes in
 * the browser of a user is not compressed: such a page could ask many times and learn a secret from
 * the lengths.
 */
function codingOf(
  incoming: IncomingMessage,
  { callers }: Pick<Route, 'callers'>,
): ReturnType<typeof chooseCoding> {
  if (callers !== 'anyone' && isFromOtherSite(incoming)) return undefined
  return chooseCoding(incoming.headers['accept-encoding'])
}
