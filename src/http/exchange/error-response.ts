/**
 * Turns errors into HTTP responses: the error envelope, and under `/v1/` also the fields of the
 * older error body. An unknown path or method has both everywhere: a client whose base address is
 * wrong shows the `message` of the older body, which has the hint. Details of errors that are not
 * an `AppError` go to the log only.
 */
import { formatInstant } from '../../base/clock.ts'
import { AppError, describeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { type HttpResponse, json } from '../response.ts'

/** Seconds to wait after a 503 that states no time. */
const DEFAULT_RETRY_AFTER = 5

type ResponseContext = {
  requestId: string
  /** The path is under `/v1/`. */
  isPublicApi: boolean
  at: number
}

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('INTERNAL_SERVER_ERROR', 'The server failed to handle this request.', {
    cause: error,
  })
}

export function errorResponse(error: AppError, context: ResponseContext): HttpResponse {
  const response = json(error.status, errorBody(error, context))
  const headers: Record<string, string> = { ...response.headers }
  const retryAfter = retryAfterSeconds(error)
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter)
  const { allow, accepted, acceptedTypes } = error.details ?? {}
  if (error.status === 405 && Array.isArray(allow)) headers.allow = allow.join(', ')
  // In a response, Accept-Encoding names the encodings of request bodies (RFC 7694).
  if (error.status === 415 && Array.isArray(accepted)) {
    headers['accept-encoding'] = accepted.join(', ')
  }
  // Accept names the content types of request bodies (RFC 9110, section 15.5.16).
  if (error.status === 415 && Array.isArray(acceptedTypes)) {
    headers.accept = acceptedTypes.join(', ')
  }
  return { ...response, headers }
}

/** Logs the details that the client does not get. */
export function logError(log: Log, error: AppError, requestId: string): void {
  if (error.status < 500 || error.isOverload) return
  const { code, cause } = error
  // The disk watch logs a full disk once, and `/health` shows it while it lasts.
  if (code === 'INSUFFICIENT_STORAGE') return
  // Another service failed, so a stack trace of this program would not help.
  if (code === 'EXTERNAL_SERVICE_ERROR') {
    log.warn({ requestId, code, reason: describeError(cause ?? error) }, 'a request failed')
    return
  }
  log.error({ requestId, code, error: cause ?? error }, 'a request failed')
}

function errorBody(error: AppError, context: ResponseContext): Record<string, unknown> {
  const envelope = {
    success: false,
    error: {
      code: error.code,
      message: error.message,
      statusCode: error.status,
      requestId: context.requestId,
      errors: error.fields,
      details: error.details,
      suggestion: error.suggestion,
    },
    timestamp: formatInstant(context.at),
  }
  const isLost = error.details?.resource === 'path' || error.status === 405
  if (!context.isPublicApi && !isLost) return envelope
  const { message, suggestion } = error
  const shown = isLost && suggestion !== undefined ? `${message} ${suggestion}` : message
  return { ...envelope, code: error.status, message: shown, time: context.at }
}

function retryAfterSeconds(error: AppError): number | undefined {
  const { retryAfter } = error.details ?? {}
  if (typeof retryAfter === 'number') return Math.max(1, Math.ceil(retryAfter))
  return error.status === 503 ? DEFAULT_RETRY_AFTER : undefined
}
