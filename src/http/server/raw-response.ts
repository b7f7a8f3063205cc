/** Writes a refusal to a connection that has no request to respond to. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { AppError } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import { errorResponse } from '../exchange/error-response.ts'
import { commonHeaders } from '../response.ts'
import { discardBody } from './unread-body.ts'

/** Bytes that are read and discarded while the refusal is sent. */
const MAX_REST_BYTES = 20 * 1024 * 1024

/** Writes the error as an HTTP response, discards input for a while (see `unread-body.ts`), and closes the connection. */
export async function writeRefusal(
  { now }: Pick<Core, 'now'>,
  socket: Socket,
  { error, isPublicApi }: { error: AppError; isPublicApi: boolean },
): Promise<void> {
  const requestId = randomUUID()
  const { status, body, headers } = errorResponse(error, { requestId, isPublicApi, at: now() })
  const fields = {
    ...commonHeaders(isPublicApi),
    ...headers,
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(String(body)),
    connection: 'close',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.removeAllListeners('data')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  await discardBody(socket, MAX_REST_BYTES)
  socket.destroy()
}
