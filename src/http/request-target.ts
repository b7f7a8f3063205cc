/**
 * The path and the query of a request (RFC 9112, section 3.2), as a URL has them: without dot segments. Most
 * targets need no change, and no URL is made for them. An empty value in the query counts as absent, unless it
 * is an id or a limit.
 */
import type { IncomingMessage } from 'node:http'
import { getPath, getQueryParam } from 'hono/utils/url'
import { namesId } from './router.ts'

export type RequestTarget = { path: string; query: Readonly<Record<string, string>> }

/** The host of HTTP/1.0 requests without a Host header, which load balancers send; nothing reads it. */
const UNNAMED_HOST = 'localhost'

/** A path and a query that a URL keeps as they are; without percent-encoding. */
const PLAIN_TARGET = /^\/[\w!#$&'()*+,\-./:;=?@[\]~]*$/
const DOT_SEGMENT = /\/\.\.?(?:[/?#]|$)/
/** A host, perhaps with a port that is none of a scheme. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/
const ABSOLUTE_FORM = /^https?:\/\//i

const NO_QUERY: RequestTarget['query'] = Object.freeze({})

/**
 * Undefined for a target or a Host field that forms no URL, and without the one Host field that HTTP/1.1
 * demands (RFC 9112, section 3.2).
 */
export function readRequestTarget(incoming: IncomingMessage): RequestTarget | undefined {
  const { url = '' } = incoming
  const host = incoming.headers.host || UNNAMED_HOST
  if (hasWrongHost(incoming)) return undefined
  const isPlain = PLAIN_HOST.test(host) && PLAIN_TARGET.test(url) && !DOT_SEGMENT.test(url)
  if (isPlain && !/[?#]/.test(url)) return { path: url, query: NO_QUERY }
  const whole = isPlain ? `http://${UNNAMED_HOST}${url}` : toUrl(url, host)
  if (whole === undefined) return undefined
  const query = getQueryParam(whole) as Record<string, string>
  return { path: getPath({ url: whole } as Request), query: withoutEmpty(query) }
}

/** The URL in its normal form. */
function toUrl(target: string, host: string): string | undefined {
  const [path = ''] = target.split('?', 1)
  if (path.includes('\\')) return undefined
  if (ABSOLUTE_FORM.test(target)) return URL.parse(target)?.href
  if (PLAIN_HOST.test(host) && !target.startsWith('/')) return undefined
  const url = URL.parse(`http://${host}${target}`)
  if (url === null || PLAIN_HOST.test(host) || isHostOf(url, host)) return url?.href
  return undefined
}

/** Whether nothing of the Host field has become another part of the URL. */
function isHostOf({ hostname }: URL, host: string): boolean {
  if (hostname.length === host.length) return true
  return hostname === host.replace(/:\d+$/, '').toLowerCase()
}

/** HTTP/1.1 requests must have a Host field, and no request has two (RFC 9112, section 3.2). */
function hasWrongHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count > 1 || (httpVersion === '1.1' && count === 0)
}

/**
 * An empty limit or id is passed on, so that validation refuses it: without an id that a client failed
 * to fill in, the request would be about all records.
 */
function withoutEmpty(query: Record<string, string>): RequestTarget['query'] {
  const isGiven = (name: string) => name === 'limit' || namesId(name)
  const given = Object.entries(query).filter(([name, value]) => value !== '' || isGiven(name))
  return Object.fromEntries(given)
}
