/**
 * Refuses requests that a page of another site makes with the cookie of a user (cross-site request
 * forgery). Browsers say where a request comes from: Sec-Fetch-Site, or else Origin. A request with
 * neither comes from no browser, so its sender knows every cookie in it.
 */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { AppError } from '../../base/errors.ts'
import { isLoopbackHost } from '../../config/values/listen-address.ts'

/** Routes for anyone that begin or end sessions, or make users. A page of another site may call none of them. */
const ACCOUNT_PATHS = /^\/(?:auth\/|setup$)/

const OWN_SITES = ['same-origin', 'none']

/** @throws AppError FORBIDDEN */
export function refuseCrossSite(incoming: IncomingMessage, baseUrl: string): void {
  const { headers } = incoming
  if (headers['sec-fetch-site'] !== undefined) {
    if (isFromOtherSite(incoming)) throw crossSite()
    return
  }
  const { origin } = headers
  if (origin === undefined) return
  const own = new URL(baseUrl)
  if (origin !== own.origin && !isOwnHost(origin, incoming, own)) throw crossSite()
}

/** Whether only pages of this server and programs may call the route, also without a session. */
export function isForOwnPages({ method, path }: { method: string; path: string }): boolean {
  return method !== 'GET' && ACCOUNT_PATHS.test(path)
}

/** Whether a browser says that a page of another site asks, for example by a link. */
export function isFromOtherSite({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && !OWN_SITES.includes(String(site))
}

/**
 * Whether the origin is of the host that the request itself was sent to. A page in clear text, which anybody on the way
 * can write, is none of a server with HTTPS. A proxy may hide how the request came, so the base URL tells it; a tunnel to
 * a loopback address has no HTTPS.
 */
function isOwnHost(origin: string, { socket, headers }: IncomingMessage, own: URL): boolean {
  const { host } = headers
  if (!URL.canParse(origin) || host === undefined) return false
  const page = new URL(origin)
  // An origin is a scheme, a host and a port (RFC 6454, section 7): a URL with more is none.
  if (!['http:', 'https:'].includes(page.protocol) || page.origin !== origin) return false
  if (page.host !== host.toLowerCase()) return false
  const isEncrypted = (socket as Partial<TLSSocket>).encrypted === true
  const isTunnel = isLoopbackHost(page.hostname.replace(/^\[|\]$/g, ''))
  const needsHttps = isEncrypted || (own.protocol === 'https:' && !isTunnel)
  return page.protocol === 'https:' || !needsHttps
}

function crossSite(): AppError {
  return new AppError('FORBIDDEN', 'This request comes from a page of another site.', {
    suggestion: 'Call the API from a page of this server, or use an API key.',
  })
}
