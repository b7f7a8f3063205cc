/** A refusal written to a connection itself, where there is no request that could be answered. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { AppError } from '../../errors.ts'
import type { Core } from '../../features/core.ts'
import { errorResponse } from '../exchange/error-response.ts'
import { commonHeaders } from '../exchange/response-headers.ts'
import { throwAway } from './linger.ts'

/** As long as that is what may still be coming. */
const MAX_REST_BYTES = 20 * 1024 * 1024

/** Writes the envelope, reads on for a while for its sake (`linger.ts`) and closes. */
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
  await throwAway(socket, MAX_REST_BYTES)
  socket.destroy()
}
