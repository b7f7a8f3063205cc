/** Headers of every response, and those of responses under `/v1/` only. */

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
    'X-Request-ID, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After',
} as const

export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': 'Content-Type, Authorization',
  'access-control-max-age': '86400',
} as const

export function commonHeaders(isPublicApi: boolean): Record<string, string> {
  return isPublicApi ? { ...PUBLIC_API } : { ...EVERYWHERE }
}
