/**
 * Requests that the listener cannot read, or that do not come whole in time: they get the envelope
 * too. Where a response has begun, or other requests wait for theirs, nothing can be said without
 * being taken for the answer to another request: the connection is closed.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../errors.ts'
import type { Core } from '../../features/core.ts'
import type { Turns } from './pipelining.ts'
import { writeRefusal } from './raw-response.ts'

type Fault = Error & { code?: string; reason?: string; rawPacket?: Buffer }
type Asked = Pick<Turns, 'unanswered'>

export function answerFaults(
  server: Server,
  core: Pick<Core, 'now' | 'counters'>,
  turns: Asked,
): void {
  server.on('clientError', (fault: Fault, socket: Socket) => {
    const error = toRefusal(fault)
    if (error === undefined || !socket.writable || !isFree(turns, socket)) {
      socket.destroy()
      return
    }
    core.counters.add('pillarbox_http_strangers_refused_total', { status: String(error.status) })
    void writeRefusal(core, socket, { error, isPublicApi: isPublicApi(fault, turns, socket) })
  })
}

/** What was read last is a head, or a piece of the body of a request that waits. */
function isPublicApi({ rawPacket }: Fault, { unanswered }: Asked, socket: Socket): boolean {
  const [first] = unanswered(socket)
  if (first !== undefined) return first.incoming.url?.startsWith('/v1/') ?? false
  return /^[A-Z]+ \/v1\//.test(rawPacket?.toString('latin1', 0, 32) ?? '')
}

/** No request waits, or the broken one alone does, and no response has begun. */
function isFree({ unanswered }: Asked, socket: Socket): boolean {
  const [first, second] = unanswered(socket)
  if (first === undefined) return true
  return second === undefined && !first.incoming.complete && !first.outgoing.headersSent
}

/** Undefined where the connection itself is broken. */
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
    return new AppError('REQUEST_TIMEOUT', 'The request did not come whole in time.', { cause })
  }
  if (!code.startsWith('HPE_')) return undefined
  const why = reason === undefined ? '' : ` (${reason})`
  return new AppError('BAD_REQUEST', `The request is not HTTP that can be read${why}.`, { cause })
}
