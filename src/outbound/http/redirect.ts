/**
 * Redirects (RFC 9110 section 15.4). After 301, 302 and 303 the next request is a GET without body; after
 * 307 and 308 it is the same one. Another origin gets only headers that describe the request: every
 * other header may be a credential. The headers of a webhook go with its body to its origin only.
 */
import type { Hop, HttpResponse } from './exchange.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** The headers that another origin gets, too. */
const PLAIN_HEADERS = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-type',
  'user-agent',
])

/** Returns the next hop; null if the response is not a redirect that can be followed. */
export function redirectOf(hop: Hop, { status, headers }: HttpResponse): Hop | null {
  if (!REDIRECTS.has(status) || headers.location === undefined) return null
  const url = URL.parse(headers.location, hop.url.href)
  if (url === null) return null
  const isGet = hop.method === 'GET' || hop.method === 'HEAD'
  const keepsMethod = isGet || status === 307 || status === 308
  const own = keepsMethod ? {} : ({ method: 'GET', body: null } as const)
  const isSameOrigin = url.origin === hop.url.origin
  const kept = Object.entries(hop.headers).filter(([name]) => {
    const plainName = name.toLowerCase()
    if (!keepsMethod && isOfBody(plainName)) return false
    return isSameOrigin || PLAIN_HEADERS.has(plainName)
  })
  return { ...hop, ...own, url, headers: Object.fromEntries(kept) }
}

/** A webhook's id, time and signature belong to the body, which the next request does not have. */
function isOfBody(name: string): boolean {
  return name.startsWith('content-') || name.startsWith('webhook-')
}
