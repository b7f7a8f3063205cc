/**
 * Responds to requests that the listener cannot parse, or that do not arrive in time, with the error
 * envelope. If a response has begun, or earlier requests wait for their responses, the client would take
 * the error for one of these, so the connection is closed instead.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import type { RequestPipelines } from './pipelined-requests.ts'
import { writeRefusal } from './raw-response.ts'

type Fault = Error & { code?: string; reason?: string; rawPacket?: Buffer }
type Pending = Pick<RequestPipelines, 'pendingRequests'>

export function refuseUnreadableRequests(
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

/** Undefined when the connection itself is broken. */
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
