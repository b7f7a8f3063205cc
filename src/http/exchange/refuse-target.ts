/** The response to a request line or a Host field that forms no URL: such a request has no route. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { AppError } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import { commonHeaders } from '../response.ts'
import { errorResponse } from './error-response.ts'
import { sendWhole } from './send-response.ts'

export function refuseTarget(
  { now, counters }: Pick<Core, 'now' | 'counters'>,
  outgoing: ServerResponse,
): void {
  counters.add('pillarbox_http_strangers_refused_total', { status: '400' })
  const error = new AppError('BAD_REQUEST', 'The request has no valid URL.')
  const requestId = randomUUID()
  const context = { requestId, isPublicApi: false, at: now() }
  const { status, body, headers } = errorResponse(error, context)
  const all = [commonHeaders(false), headers, { 'x-request-id': requestId }]
  sendWhole(outgoing, { status, headers: all }, String(body))
}
