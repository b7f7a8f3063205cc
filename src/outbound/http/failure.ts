/** How a request can fail: values for callers, and the errors of one exchange that they come from. */
import { describeError } from '../../base/errors.ts'

export type HttpFailure =
  /** The client must not connect to the URL, or to that of a redirect. A retry changes nothing. */
  | { kind: 'refused'; error: string }
  /** No address, no connection, no trusted certificate, or the connection was lost. */
  | { kind: 'unreachable'; error: string }
  | { kind: 'timeout'; error: string }
  | { kind: 'too large'; error: string }
  /** More interim responses, or octets beside the body, than `hop-limits.ts` takes. */
  | { kind: 'flood'; error: string }
  /** The caller's signal ended the request. */
  | { kind: 'aborted'; error: string }

type EndedKind = Exclude<HttpFailure['kind'], 'refused' | 'unreachable'>

/** The error of an exchange that this side ended. */
export class HopEnded extends Error {
  override readonly name = 'Ended'
  readonly kind: EndedKind

  constructor(kind: EndedKind, text: string) {
    super(text)
    this.kind = kind
  }
}

/** Returns the failure of a request. `error`: the error that `exchangeHttp` threw. */
export function failureOf(error: unknown): HttpFailure {
  const text = describeError(error)
  if (error instanceof HopEnded) return { kind: error.kind, error: text }
  return { kind: 'unreachable', error: text }
}

/** Whether a kept-alive connection was closed by the server before it read the request. */
export function isStaleConnection(error: unknown): boolean {
  if (!(error instanceof Error) || !('isReused' in error) || error.isReused !== true) return false
  return codeOf(error) === 'ECONNRESET' || codeOf(error) === 'EPIPE'
}

const NO_CONNECTION = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])

/** Whether the address cannot be connected to, so that nothing was sent. */
export function isNotConnected(error: unknown): boolean {
  return NO_CONNECTION.has(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
