/**
 * Refuses requests with a transfer coding that the server does not know: all but chunked, which Node decodes
 * (RFC 9112, section 6.1). Node passes a body in another one on as if it were plain. `identity` is none any more.
 *
 * HTTP/1.0 has no transfer codings, so a proxy of that version may see the end of such a request elsewhere: the
 * connection ends with its response.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import { errorResponse } from '../exchange/error-response.ts'
import { commonHeaders } from '../response.ts'
import { respondAndLinger } from './unread-body.ts'

type Deps = Pick<Core, 'now' | 'counters'>

/** Returns a listener that calls `handle` for all other requests. */
export function refuseTransferCodings(deps: Deps, handle: RequestListener): RequestListener {
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
  // One whose last coding is not chunked, Node itself refuses in a moment (`unreadable-requests.ts`).
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
