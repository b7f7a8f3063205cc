/** Records a request once its whole response is known: counters, and a line in the request log. */
import type { AppError } from '../../errors.ts'
import type { Exchange, ExchangeDeps } from './exchange.ts'

type Result = { status: number; sizeBytes: number; error: AppError | undefined }

/** Refused requests without a caller are only counted, because anyone can send them in any number. */
export function recordRequest(deps: ExchangeDeps, exchange: Exchange, result: Result): void {
  const { core, traffic, requestLog } = deps
  const { route, receivedAt, caller } = exchange
  const { status } = result
  const durationMs = Math.max(0, core.now() - receivedAt)
  traffic.count(route, status, durationMs)
  if (caller === null && status >= 400 && status < 500) {
    core.counters.add('pillarbox_http_strangers_refused_total', { status: String(status) })
    return
  }
  // On a nearly full disk the space that is left is for the outcomes of emails.
  if (core.disk.isLow()) return
  if (caller !== null || (status >= 500 && !route.isUnlogged)) {
    requestLog.record(toLogEntry(exchange, { ...result, durationMs }))
  }
}

function toLogEntry(
  exchange: Exchange,
  { status, sizeBytes, error, durationMs }: Result & { durationMs: number },
) {
  const { id, incoming, path, caller, address, requestBytes, stream, receivedAt } = exchange
  return {
    id,
    method: incoming.method ?? 'GET',
    path,
    statusCode: status,
    durationMs,
    projectId: caller?.project.id ?? null,
    ip: address,
    userAgent: incoming.headers['user-agent'] ?? null,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
    requestSizeBytes: stream?.sizeBytes() ?? requestBytes,
    responseSizeBytes: sizeBytes,
    createdAt: receivedAt,
  }
}
