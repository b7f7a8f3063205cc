/**
 * The one place where an error becomes a response: the envelope (contract 8.1), and under `/v1/`
 * beside it the fields of the older body (section 0, 8.4). What is not an `AppError` is nobody's
 * business but the log's.
 */
import { formatInstant } from '../../clock.ts'
import { AppError, describeError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { type HttpResponse, json } from '../response.ts'

/** Seconds to wait after a 503 whose error names none. */
const DEFAULT_RETRY_AFTER = 5

export type ErrorPlace = {
  requestId: string
  /** The path is under `/v1/`. */
  isPublicApi: boolean
  at: number
}

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong on our side.', {
    cause: error,
  })
}

export function errorResponse(error: AppError, place: ErrorPlace): HttpResponse {
  const response = json(error.status, errorBody(error, place))
  const headers: Record<string, string> = { ...response.headers }
  const retryAfter = retryAfterSeconds(error)
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter)
  const { allow, accepted } = error.details ?? {}
  if (error.status === 405 && Array.isArray(allow)) headers.allow = allow.join(', ')
  // Here it speaks of bodies of requests (RFC 7694).
  if (error.status === 415 && Array.isArray(accepted)) {
    headers['accept-encoding'] = accepted.join(', ')
  }
  return { ...response, headers }
}

/** Tells the log what the caller is not told. */
export function logError(log: Log, error: AppError, requestId: string): void {
  if (error.status < 500) return
  const { code, cause } = error
  // The log says so once, and `/health` for as long.
  if (code === 'INSUFFICIENT_STORAGE') return
  // Others did not answer: where in the program that was noticed tells nothing.
  if (code === 'EXTERNAL_SERVICE_ERROR') {
    log.warn({ requestId, code, reason: describeError(cause ?? error) }, 'a request failed')
    return
  }
  log.error({ requestId, code, error: cause ?? error }, 'a request failed')
}

function errorBody(error: AppError, place: ErrorPlace): Record<string, unknown> {
  const envelope = {
    success: false,
    error: {
      code: error.code,
      message: error.message,
      statusCode: error.status,
      requestId: place.requestId,
      errors: error.fields,
      details: error.details,
      suggestion: error.suggestion,
    },
    timestamp: formatInstant(place.at),
  }
  if (!place.isPublicApi) return envelope
  return { ...envelope, code: error.status, message: error.message, time: place.at }
}

function retryAfterSeconds(error: AppError): number | undefined {
  const told = error.details?.retryAfter
  if (typeof told === 'number') return Math.max(1, Math.ceil(told))
  return error.status === 503 ? DEFAULT_RETRY_AFTER : undefined
}
