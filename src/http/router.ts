/**
 * Reads the target of a request, and finds its route. The path and the query of a target (RFC 9112, section 3.2)
 * are those of a URL: without dot segments. Most targets need no change, and no URL is made for them.
 *
 * Most paths of routes have no parameters and are looked up as they are; the router of hono matches the others. A
 * slash at the end of a path is ignored unless the path ends with a token. Ids in a path may be in upper or lower
 * case. A path that a route has as it is has no id in any place: if the route is of another method, routes with an
 * `:id` there do not match.
 */
import type { IncomingMessage } from 'node:http'
import { TrieRouter } from 'hono/router/trie-router'
import { getPath, getQueryParam, tryDecodeURIComponent } from 'hono/utils/url'
import type { Route } from './route.ts'

type RequestTarget = { path: string; query: Readonly<Record<string, string>> }
type Params = Readonly<Record<string, string>>
type FoundRoute = { route: Route; params: Params }

export type Router = {
  find(method: string, path: string): FoundRoute | undefined
}

/** The host of HTTP/1.0 requests without a Host header, which load balancers send; nothing reads it. */
const UNNAMED_HOST = 'localhost'

/** A path and a query that a URL keeps as they are; without percent-encoding. */
const PLAIN_TARGET = /^\/[\w!#$&'()*+,\-./:;=?@[\]~]*$/
const DOT_SEGMENT = /\/\.\.?(?:[/?#]|$)/
/** A host, perhaps with a port that is none of a scheme. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/
const ABSOLUTE_FORM = /^https?:\/\//i

const NO_QUERY: RequestTarget['query'] = Object.freeze({})
const NO_PARAMS: Params = Object.freeze({})

const NAMES_ID = /(?:^i|I)d$/
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/**
 * Reads the target of a request. Returns undefined if target and Host field form no URL, and for an
 * HTTP/1.1 request without exactly one Host field (RFC 9112, section 3.2).
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

/**
 * The first entry that matches a path counts.
 * @throws TypeError for an entry without parameters that an earlier entry hides
 */
export function createRouter(
  entries: readonly { method: string; path: string; route: Route }[],
): Router {
  const plain = new Map<string, Map<string, FoundRoute>>()
  const plainPaths = new Set<string>()
  const others = new TrieRouter<Route>()

  function find(method: string, path: string): FoundRoute | undefined {
    return plain.get(method)?.get(path) ?? findOther(method, path)
  }

  function findOther(method: string, path: string): FoundRoute | undefined {
    const [found] = others.match(method, path)[0] as [Route, Params][]
    if (found === undefined) return undefined
    const [route, params] = found
    if (plainPaths.has(path) && Object.keys(params).some(namesId)) return undefined
    return { route, params: decoded(params) }
  }

  for (const { method, path, route } of entries) {
    const isPlain = !/[:*]/.test(path)
    for (const each of route.isUnlogged ? [path] : [path, `${path}/`]) {
      if (!isPlain) {
        others.add(method, each, route)
        continue
      }
      if (find(method, each) !== undefined) throw new TypeError(`${each} is never reached`)
      plainPaths.add(each)
      plain.set(method, (plain.get(method) ?? new Map()).set(each, { route, params: NO_PARAMS }))
    }
  }
  return { find }
}

/** UUIDs are stored in lower case. Other parameters, such as event names, stay as they are. */
function decoded(given: Params): Params {
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const text = tryDecodeURIComponent(value)
    params[name] = namesId(name) && UUID.test(text) ? text.toLowerCase() : text
  }
  return params
}

/** Whether a parameter or a field of a query has an id. */
function namesId(name: string): boolean {
  return NAMES_ID.test(name)
}

/** Returns the URL of a target in its normal form; undefined if it is none. */
function toUrl(target: string, host: string): string | undefined {
  const [path = ''] = target.split('?', 1)
  if (path.includes('\\')) return undefined
  if (ABSOLUTE_FORM.test(target)) return URL.parse(target)?.href
  if (PLAIN_HOST.test(host) && !target.startsWith('/')) return undefined
  const url = URL.parse(`http://${host}${target}`)
  if (url === null || PLAIN_HOST.test(host) || isHostOf(url, host)) return url?.href
  return undefined
}

/** Whether the whole Host field has become the host of the URL, and nothing of it another part. */
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
 * Leaves out parameters with an empty value. An empty limit or id stays, so that validation refuses
 * it: if a client failed to fill in an id, the request must not be about all records.
 */
function withoutEmpty(query: Record<string, string>): RequestTarget['query'] {
  const isGiven = (name: string) => name === 'limit' || namesId(name)
  const given = Object.entries(query).filter(([name, value]) => value !== '' || isGiven(name))
  return Object.fromEntries(given)
}
