/**
 * An HTTP listener with the guards that every listener needs. Only this file makes HTTP servers, and a
 * test attacks each address that the program listens on.
 *
 *   connections         limited in total and from one address (`connections.ts`)
 *   time                for the head, for the whole request, and between requests
 *   heads               16 KB at most, or less
 *   pipelined requests  one after the other (`pipelined-requests.ts`); after `maxRequests` the
 *                       connection is closed
 *   bodies              asked for by their readers only (`unread-body.ts`), plain or chunked
 *   unreadable input    answered once, and the connection is closed
 *   answers             cut when a client takes nothing for 30 s (`cutStalledAnswers`)
 */

import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import { errorResponse } from '../exchange/error-response.ts'
import { commonHeaders } from '../response.ts'
import {
  type ConnectionLimits,
  type Connections,
  cutStalledAnswers,
  watchConnections,
} from './connections.ts'
import { createRequestPipelines, type RequestPipelines } from './pipelined-requests.ts'
import { writeRefusal } from './raw-response.ts'
import { leaveBodiesToReaders, respondAndLinger } from './unread-body.ts'

export type ListenerGuards = {
  isTls: boolean
  connections: ConnectionLimits
  maxHeaderBytes: number
  headMs: number
  /** The time from the first octet of a request to the last octet of its body. */
  requestMs: number
  keepAliveMs: number
  /** The most requests on one connection. */
  maxRequests: number
}

type GuardedServer = { server: Server; connections: Connections }

/** The times are checked at least this often, and ten times within the shortest of them. */
const MAX_CHECK_MS = 2_000

type Deps = Pick<Core, 'now' | 'counters'>

type Fault = Error & { code?: string; reason?: string; rawPacket?: Buffer }

type Pending = Pick<RequestPipelines, 'pendingRequests'>

export function createGuardedServer(
  deps: Pick<Core, 'now' | 'counters'>,
  guards: ListenerGuards,
  handle: RequestListener,
): GuardedServer {
  const handleKnown = refuseTransferCodings(deps, handle)
  const pipelines = createRequestPipelines(handleKnown, guards.maxRequests)
  const options = {
    // Node must not refuse a request without a Host header itself: its refusal would have no
    // envelope.
    requireHostHeader: false,
    maxHeaderSize: guards.maxHeaderBytes,
    headersTimeout: guards.headMs,
    requestTimeout: guards.requestMs,
    keepAliveTimeout: guards.keepAliveMs,
    connectionsCheckingInterval: Math.min(MAX_CHECK_MS, guards.headMs / 10),
  }
  const server = guards.isTls
    ? createTlsServer({ ...options, handshakeTimeout: guards.headMs }, pipelines.listener)
    : createServer(options, pipelines.listener)
  leaveBodiesToReaders(server)
  pipelines.watch(server)
  refuseUnreadableRequests(server, deps, pipelines)
  cutStalledAnswers(server, () => deps.counters.add('pillarbox_http_answers_cut_total'))
  return { server, connections: watchConnections(server, guards.connections) }
}

/**
 * Refuses requests with any transfer coding but chunked (RFC 9112, section 6.1), which Node decodes: Node passes
 * a body in another coding on as if it were plain. `identity` is no longer a coding. HTTP/1.0 has no transfer
 * codings, so a proxy of that version may see another end of such a request: the connection ends with its response.
 * Returns a listener that calls `handle` for all other requests.
 */
function refuseTransferCodings(deps: Deps, handle: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    const codings = incoming.headers['transfer-encoding']
    if (codings !== undefined) {
      if (!isChunkedOnly(codings)) return void refuse(deps, incoming, outgoing)
      if (incoming.httpVersion === '1.0') outgoing.shouldKeepAlive = false
    }
    return handle(incoming, outgoing)
  }
}

/** A list may have empty elements (RFC 9110, section 5.6.1). */
function isChunkedOnly(codings: string): boolean {
  const named = codings.split(',').map((coding) => coding.trim().toLowerCase())
  return named.every((coding) => coding === 'chunked' || coding === '')
}

async function refuse(
  { now, counters }: Deps,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  // If the last coding is not chunked, Node refuses the request in the next turn (`refuseUnreadableRequests`).
  await setImmediate()
  if (!incoming.socket.writable) return
  const error = new AppError('NOT_IMPLEMENTED', 'This Transfer-Encoding is not supported.', {
    suggestion: 'Send the body with Content-Length, or with Transfer-Encoding: chunked alone.',
  })
  counters.add('pillarbox_http_strangers_refused_total', { status: String(error.status) })
  const isPublicApi = incoming.url?.startsWith('/v1/') ?? false
  const requestId = randomUUID()
  const { status, headers, body } = errorResponse(error, { requestId, isPublicApi, at: now() })
  const all = { ...commonHeaders(isPublicApi), ...headers, 'x-request-id': requestId }
  const response = { status, headers: all, cookies: [], body: String(body) }
  await respondAndLinger(incoming, outgoing, { response, maxBytes: 0 })
}

/**
 * Responds to requests that the listener cannot parse, or that do not arrive in time, with the error
 * envelope. If a response has begun, or earlier requests wait for their responses, the client would take
 * the error for one of these, so the connection is closed instead.
 */
function refuseUnreadableRequests(
  server: Server,
  core: Pick<Core, 'now' | 'counters'>,
  pipelines: Pending,
): void {
  server.on('clientError', (fault: Fault, socket: Socket) => {
    const error = toRefusal(fault)
    if (error === undefined || !socket.writable || !isFree(pipelines, socket)) {
      socket.destroy()
      return
    }
    core.counters.add('pillarbox_http_strangers_refused_total', { status: String(error.status) })
    void writeRefusal(core, socket, { error, isPublicApi: isPublicApi(fault, pipelines, socket) })
  })
}

/**
 * Whether the unreadable bytes belong to a request of the public API: to the body of a waiting
 * request, or else to the head of a new one.
 */
function isPublicApi({ rawPacket }: Fault, { pendingRequests }: Pending, socket: Socket): boolean {
  const [first] = pendingRequests(socket)
  if (first !== undefined) return first.incoming.url?.startsWith('/v1/') ?? false
  return /^[A-Z]+ \/v1\//.test(rawPacket?.toString('latin1', 0, 32) ?? '')
}

/** Whether no request waits, or only the broken one, and no response has begun. */
function isFree({ pendingRequests }: Pending, socket: Socket): boolean {
  const [first, second] = pendingRequests(socket)
  if (first === undefined) return true
  return second === undefined && !first.incoming.complete && !first.outgoing.headersSent
}

/** Returns the refusal of an unreadable request; undefined when the connection itself is broken. */
function toRefusal(cause: Fault): AppError | undefined {
  const { code = '', reason } = cause
  if (code === 'HPE_HEADER_OVERFLOW') {
    const text = 'The header fields of the request are too large.'
    return new AppError('REQUEST_HEADER_FIELDS_TOO_LARGE', text, { cause })
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return new AppError('PAYLOAD_TOO_LARGE', 'The chunk extensions are too large.', { cause })
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('REQUEST_TIMEOUT', 'The request did not arrive in time.', { cause })
  }
  if (!code.startsWith('HPE_')) return undefined
  const why = reason === undefined ? '' : ` (${reason})`
  return new AppError('BAD_REQUEST', `The request is not valid HTTP${why}.`, { cause })
}
