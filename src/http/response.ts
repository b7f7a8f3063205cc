/** HTTP responses, and the headers that all of them share. */

/**
 * A body of several pieces produces the next piece when the client has taken the previous one, and
 * none after the client has disconnected.
 */
export type HttpResponse = {
  status: number
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>
  headers: Readonly<Record<string, string>>
  /** The value that a JSON body was made from. */
  value?: unknown
  /** The body has the warnings of the call already, in a list of its own. */
  hasWarnings?: true
  /**
   * Bytes that the body keeps in memory until its end. By default the length of a complete body, and the
   * reserved memory of a body in pieces.
   */
  reservedBytes?: number
  /** Values of Set-Cookie header fields. */
  cookies?: readonly string[]
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

export function json(status: number, value: unknown): HttpResponse {
  return { status, body: JSON.stringify(value), headers: JSON_HEADERS, value }
}

export function noContent(): HttpResponse {
  return { status: 204, body: '', headers: {} }
}

/** The headers of every response. */
const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/** Pages of any origin may call the public API; no other page may call the rest. */
const PUBLIC_API = {
  ...EVERYWHERE,
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-ID, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Preference-Applied',
} as const

export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': 'Content-Type, Authorization, Prefer',
  'access-control-max-age': '86400',
} as const

export function commonHeaders(isPublicApi: boolean): Record<string, string> {
  return isPublicApi ? { ...PUBLIC_API } : { ...EVERYWHERE }
}
