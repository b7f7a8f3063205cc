/**
 * One request and its response, the same for every route. The order of the checks is part of the
 * API: the caller (`admission.ts`), idempotency key, body, memory for the answer, then the route itself. An error of any of
 * them becomes the response. Only the line in the request log outlives a request: it is written
 * later.
 */

import type { IncomingMessage } from 'node:http'
import { AppError, type FieldWarning, invalid, type UnknownName } from '../../base/errors.ts'
import { addLogFields, withLogFields } from '../../base/log.ts'
import {
  MAX_IDEMPOTENCY_KEY_LENGTH,
  refuseUsedKey,
} from '../../features/ground/requests/idempotency.ts'
import { projectOf } from '../../features/tenancy/accounts/callers/caller.ts'
import { clientLeft, currentOwner } from '../../turns/owner.ts'
import { nextTurn } from '../../work/loop-turns.ts'
import { type BodyLimits, isBodyless, readForm, readJson, readJsonIfAny } from '../body/body.ts'
import type { BodyStream } from '../body/body-stream.ts'
import { wantsStrict } from '../preference.ts'
import {
  type BodyEnd,
  type HttpResponse,
  piecesOfOctets,
  sendPieces,
  sendWhole,
  WHOLE_BYTES,
} from '../response.ts'
import type { RawCall, Route } from '../route.ts'
import { isLongUnderWay, respondAndLinger, sendContinueFor } from '../server/unread-body.ts'
import { judgeNames, toStrayNames } from '../unknown-names.ts'
import { admit, admitAfterBody } from './admission.ts'
import { FREE_ANSWER_BYTES } from './answer-allowance.ts'
import { COMPRESSION_BYTES } from './compression/compress-pieces.ts'
import { errorResponse, logError, toAppError } from './error-response.ts'
import {
  answerShareOf,
  bodyShareOf,
  type Exchange,
  type ExchangeDeps,
  openExchange,
  type RoutedRequest,
  recordRequest,
  runForExchange,
  whileReading,
} from './exchange.ts'
import { idempotentPath } from './key-rights.ts'
import { withWarnings } from './warnings.ts'

/** The largest form of a hosted page: each form has one short field. */
const MAX_FORM_BYTES = 16 * 1024

/** Seconds to wait when the disk is full: an operator has to make space. */
const FULL_RETRY_AFTER = 60

const PRINTABLE = /^[\x20-\x7e]+$/

/** Responds to one request on `route`. Resolves when a response of several pieces has begun. */
export function respond(deps: ExchangeDeps, route: Route, request: RoutedRequest): Promise<void> {
  const exchange = openExchange(deps, route, request)
  return withLogFields({ requestId: exchange.id }, () => respondTo(deps, exchange))
}

async function respondTo(deps: ExchangeDeps, exchange: Exchange): Promise<void> {
  try {
    await finish(deps, exchange, await runExchange(deps, exchange))
  } catch (thrown) {
    // The response to an error does not need the part of the body that was read.
    exchange.share?.release()
    const error = toAppError(thrown)
    logError(deps.core.log, error, exchange.id)
    await finish(deps, exchange, await toRefusal(deps, exchange, error), error)
  } finally {
    exchange.share?.release()
  }
}

async function toRefusal(
  { core }: ExchangeDeps,
  exchange: Exchange,
  error: AppError,
): Promise<HttpResponse> {
  const { id: requestId, isPublicApi, route, incoming } = exchange
  const plain = errorResponse(error, { requestId, isPublicApi, at: core.now() })
  // The error MISDIRECTED_REQUEST keeps its envelope: its text is for an operator who opens a page under a
  // new host name for the first time.
  const isForOperator = error.code === 'MISDIRECTED_REQUEST'
  if (route.showError === undefined || isForOperator) return plain
  const shown = await route.showError(error, incoming)
  return { ...shown, headers: { ...plain.headers, ...shown.headers } }
}

async function runExchange(deps: ExchangeDeps, exchange: Exchange): Promise<HttpResponse> {
  const { core } = deps
  const { route, incoming } = exchange
  // The path of an unlogged route holds a token: broken percent-encoding gets the response of any
  // other invalid token.
  if (!route.isUnlogged) refuseUnreadableTarget(incoming)
  await admit(deps, exchange)
  const idempotencyKey = route.takesIdempotencyKey ? readIdempotencyKey(incoming) : undefined
  const project = projectOf(exchange.caller)
  if (project !== null) addLogFields({ projectId: project.id })
  if (idempotencyKey !== undefined && project !== null) {
    const { method } = route
    const path = idempotentPath(exchange.caller, exchange.path)
    await refuseUsedKey(core, { projectId: project.id, key: idempotencyKey, method, path })
  }
  // The disk is checked after the idempotency key, so that a repeated request gets its first
  // response even if the disk is full.
  const isRefused = route.growsDisk && core.disk.isLow()
  if (isRefused && route.protects === undefined) throw diskFull()
  if (wantsStrict(incoming)) exchange.headers['preference-applied'] = 'handling=strict'
  const hasBody = route.body !== undefined || (route.expectsNoBody && !isBodyless(incoming))
  const body = hasBody ? await takeBody(deps, exchange) : undefined
  const admission = hasBody ? admitAfterBody(deps, exchange) : undefined
  if (admission !== undefined) await admission
  if (isRefused && route.protects?.(body) !== true) throw diskFull()
  const { answerBytes, answerLimits } = route
  if (answerBytes > 0) {
    const bytes = answerBytes + compressionBytes(exchange)
    await answerShareOf(deps, exchange).reserve(bytes, answerLimits)
  }
  const call = toCall(deps, exchange, { body, idempotencyKey })
  const response = await whileReading(exchange, () =>
    runForExchange(exchange, () => (answerBytes > 0 ? runInTurn(exchange, call) : route.run(call))),
  )
  return withWarnings(response, exchange.warnings)
}

/** Work that reads much waits for its turn, and does not begin for a client that has left by then. */
async function runInTurn({ route, outgoing }: Exchange, call: RawCall): Promise<HttpResponse> {
  await nextTurn()
  if (outgoing.destroyed) throw clientLeft()
  return route.run(call)
}

/**
 * Checks the percent-encoding of path and query as they were sent.
 * @throws AppError BAD_REQUEST for broken percent-encoding
 */
function refuseUnreadableTarget({ url = '' }: IncomingMessage): void {
  if (!url.includes('%')) return
  const [path = ''] = url.split('?', 1)
  refuseUnreadable('path', path)
  refuseUnreadable('query', url.slice(path.length))
}

function refuseUnreadable(part: 'path' | 'query', encoded: string): void {
  try {
    decodeURIComponent(encoded)
  } catch (cause) {
    throw new AppError('BAD_REQUEST', `The percent-encoding of the ${part} is broken.`, { cause })
  }
}

function diskFull(): AppError {
  return new AppError('INSUFFICIENT_STORAGE', 'Nothing more can be stored at the moment.', {
    details: { retryAfter: FULL_RETRY_AFTER },
  })
}

function readIdempotencyKey(incoming: IncomingMessage): string | undefined {
  const given = incoming.headers['idempotency-key']
  if (given === undefined) return undefined
  const isKey = typeof given === 'string' && PRINTABLE.test(given)
  if (isKey && given.length <= MAX_IDEMPOTENCY_KEY_LENGTH) return given
  const allowed = `1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters`
  throw new AppError('BAD_REQUEST', `The Idempotency-Key must be ${allowed}.`)
}

function takeBody(deps: ExchangeDeps, exchange: Exchange): Promise<unknown> | undefined {
  const { incoming, route } = exchange
  if (route.takesForm) return takeForm(deps, exchange)
  const isAbsent = isBodyless(incoming) && route.body?.safeParse(undefined).success
  return isAbsent ? undefined : takeJson(deps, exchange, route.maxBodyBytes)
}

async function takeForm(deps: ExchangeDeps, exchange: Exchange): Promise<unknown> {
  const { incoming } = exchange
  const limits = bodyLimits(deps, exchange, MAX_FORM_BYTES)
  const { value, sizeBytes } = await readForm(incoming, limits)
  exchange.requestBytes = sizeBytes
  return value
}

async function takeJson(
  deps: ExchangeDeps,
  exchange: Exchange,
  maxBytes: number,
): Promise<unknown> {
  const limits = bodyLimits(deps, exchange, maxBytes)
  const { expectsNoBody } = exchange.route
  const read = expectsNoBody ? readJsonIfAny : readJson
  const { value, sizeBytes, dropped } = await read(exchange.incoming, limits)
  exchange.requestBytes = sizeBytes
  if (dropped.length > 0) reportUnknown(exchange, expectsNoBody ? toStrayNames(dropped) : dropped)
  return value
}

function bodyLimits(deps: ExchangeDeps, exchange: Exchange, maxBytes: number): BodyLimits {
  const { incoming, outgoing } = exchange
  return {
    maxBytes,
    share: bodyShareOf(deps, exchange),
    sendContinue: () => sendContinueFor(incoming, outgoing),
  }
}

function toCall(
  deps: ExchangeDeps,
  exchange: Exchange,
  { body, idempotencyKey }: Pick<RawCall, 'body' | 'idempotencyKey'>,
): RawCall {
  const { id: requestId, receivedAt, path, address, incoming, params, query } = exchange
  const { caller } = exchange
  return {
    requestId,
    receivedAt,
    path,
    address,
    incoming,
    params,
    query,
    body,
    stream: admittedStream(deps, exchange),
    readJson: (maxBytes) => takeJson(deps, exchange, maxBytes),
    reserve: (bytes) => reserve(deps, exchange, bytes),
    idempotencyKey,
    warn: (warning) => addWarning(exchange, warning),
    warnings: exchange.warnings,
    reportUnknown: (names) => reportUnknown(exchange, names),
    caller,
  }
}

/**
 * Warns of names that nothing reads.
 * @throws AppError VALIDATION_ERROR if the client wants such names refused
 */
function reportUnknown(exchange: Exchange, names: readonly UnknownName[]): void {
  const { ignored, refused } = judgeNames(names, wantsStrict(exchange.incoming))
  if (refused.length > 0) throw invalid(refused)
  for (const warning of ignored) addWarning(exchange, warning)
}

/** Adds a warning once: work that is done again after a conflict gives the same one. */
function addWarning({ warnings }: Exchange, warning: FieldWarning): void {
  const isSaid = warnings.some(
    ({ field, message }) => field === warning.field && message === warning.message,
  )
  if (!isSaid) warnings.push(warning)
}

/**
 * Waits for memory for the answer. A call that has changed something does not wait, because the
 * client must get its result: its memory is only counted.
 */
async function reserve(deps: ExchangeDeps, exchange: Exchange, wanted: number): Promise<void> {
  const bytes = wanted + compressionBytes(exchange)
  const answer = answerShareOf(deps, exchange)
  if (currentOwner().hasChanged === true) answer.resize(bytes)
  else await answer.reserve(bytes, exchange.route.answerLimits)
}

/** The memory that compressing the answer takes, beside the memory of the answer itself. */
function compressionBytes({ coding }: Exchange): number {
  return coding === undefined ? 0 : COMPRESSION_BYTES
}

/** The body for a handler that reads it. The end of the body throws if the caller may no longer call the route. */
function admittedStream(deps: ExchangeDeps, exchange: Exchange): BodyStream | undefined {
  const { stream } = exchange
  if (stream === undefined) return undefined
  return {
    ...stream,
    async *read(maxBytes) {
      yield* stream.read(maxBytes)
      await admitAfterBody(deps, exchange)
    },
  }
}

async function finish(
  deps: ExchangeDeps,
  exchange: Exchange,
  response: HttpResponse,
  error?: AppError,
): Promise<void> {
  const { headers, incoming, outgoing, route } = exchange
  const packed = route.isCompressed ? await compressed(deps, exchange, response) : response
  const sent = inPieces(exchange, packed)
  const { status, body } = sent
  // After a 408 the connection cannot be used again: the octets that still come are those of the
  // body.
  const isCutShort = error?.code === 'REQUEST_TIMEOUT'
  if (deps.stopping.aborted || isCutShort) headers.connection = 'close'
  const cookies = [...exchange.cookies, ...(sent.cookies ?? [])]
  const head = { status, headers: [headers, sent.headers], cookies }
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const sizeBytes = Buffer.byteLength(body)
    keepShare(deps, exchange, sent.reservedBytes ?? sizeBytes)
    if (isLongUnderWay(incoming)) {
      recordRequest(deps, exchange, { status, sizeBytes, error })
      const response = { status, headers: { ...headers, ...sent.headers }, cookies, body }
      return respondAndLinger(incoming, outgoing, { response, maxBytes: route.maxBodyBytes })
    }
    // The request is recorded after the call of `sendWhole`: if that call throws, the response to
    // its error is recorded instead.
    sendWhole(outgoing, head, body)
    return recordRequest(deps, exchange, { status, sizeBytes, error })
  }
  if (incoming.method === 'HEAD') {
    // Ends the body, because the response reads none of its pieces.
    void body[Symbol.asyncIterator]().return?.()
    sendWhole(outgoing, head, '')
    return recordRequest(deps, exchange, { status, sizeBytes: 0, error })
  }
  if (sent.reservedBytes !== undefined) keepShare(deps, exchange, sent.reservedBytes)
  const onEnd = ({ sizeBytes, error: thrown }: BodyEnd) => {
    const failure = thrown === undefined ? undefined : toAppError(thrown)
    if (failure !== undefined) logError(deps.core.log, failure, exchange.id)
    recordRequest(deps, exchange, { status, sizeBytes, error: failure })
  }
  const out = {
    onEnd,
    cut: () => void incoming.destroy(),
    within: <T>(make: () => Promise<T>) =>
      whileReading(exchange, () => runForExchange(exchange, make)),
    nextTurn: () => runForExchange(exchange, nextTurn),
  }
  void sendPieces(outgoing, { head, pieces: body, out })
}

/**
 * Compresses the response. If the body is in pieces, an answer to HEAD only gets the header fields
 * of a compressed response.
 */
function compressed(
  { compressor }: ExchangeDeps,
  { coding, incoming }: Exchange,
  response: HttpResponse,
): HttpResponse | Promise<HttpResponse> {
  const isWhole = typeof response.body === 'string' || response.body instanceof Uint8Array
  if (incoming.method === 'HEAD' && !isWhole) return compressor.describe(response, coding)
  return compressor.compress(response, coding)
}

/** Octets that are too long to be sent as a whole become pieces, with their length in a header. */
function inPieces({ incoming }: Exchange, response: HttpResponse): HttpResponse {
  const { body } = response
  const isLong = body instanceof Uint8Array && body.length > WHOLE_BYTES
  if (!isLong || incoming.method === 'HEAD' || isLongUnderWay(incoming)) return response
  const headers = { ...response.headers, 'content-length': String(body.length) }
  return { reservedBytes: body.length, ...response, headers, body: piecesOfOctets(body) }
}

/**
 * Sets the share to the size of the answer. A short answer gives back all memory that was reserved
 * for it.
 */
function keepShare(deps: ExchangeDeps, exchange: Exchange, sizeBytes: number): void {
  const { answer } = exchange
  if (sizeBytes > FREE_ANSWER_BYTES) answerShareOf(deps, exchange).resize(sizeBytes)
  else answer?.resize(0)
}
