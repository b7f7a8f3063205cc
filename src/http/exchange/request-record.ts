/** What is left of an exchange once its response is known whole: numbers, and a line of the log. */
import type { AppError } from '../../errors.ts'
import type { Exchange, Hall } from './exchange.ts'

type Outcome = { status: number; sizeBytes: number; error: AppError | undefined }

/** Of strangers, who can be refused as often as they like, there is a number only. */
export function settle(hall: Hall, exchange: Exchange, outcome: Outcome): void {
  const { core, traffic, requestLog } = hall
  const { route, receivedAt, project } = exchange
  const { status } = outcome
  const durationMs = Math.max(0, core.now() - receivedAt)
  traffic.count(route, status, durationMs)
  if (project === null && status >= 400 && status < 500) {
    core.counters.add('pillarbox_http_strangers_refused_total', { status: String(status) })
    return
  }
  // What is left of the disk is for the outcomes of mail.
  if (core.disk.isLow()) return
  if (project !== null || (status >= 500 && !route.isUnlogged)) {
    requestLog.record(toLogEntry(exchange, { ...outcome, durationMs }))
  }
}

function toLogEntry(
  exchange: Exchange,
  { status, sizeBytes, error, durationMs }: Outcome & { durationMs: number },
) {
  const { id, incoming, path, project, address, requestBytes, stream, receivedAt } = exchange
  return {
    id,
    method: incoming.method ?? 'GET',
    path,
    statusCode: status,
    durationMs,
    projectId: project?.id ?? null,
    ip: address,
    userAgent: incoming.headers['user-agent'] ?? null,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
    requestSizeBytes: stream?.sizeBytes() ?? requestBytes,
    responseSizeBytes: sizeBytes,
    createdAt: receivedAt,
  }
}
