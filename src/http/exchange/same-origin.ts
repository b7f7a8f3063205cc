/**
 * Refuses requests that a page of another site makes with the cookie of a user (cross-site request
 * forgery). Browsers say where a request comes from: Sec-Fetch-Site, or else Origin. A request with
 * neither comes from no browser, so its sender knows every cookie in it.
 */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../base/errors.ts'

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
  if (origin !== new URL(baseUrl).origin && !isOwnHost(origin, headers.host)) throw crossSite()
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

/** Whether the origin is of the host that the request itself was sent to. */
function isOwnHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && host !== undefined && new URL(origin).host === host.toLowerCase()
}

function crossSite(): AppError {
  return new AppError('FORBIDDEN', 'This request comes from a page of another site.', {
    suggestion: 'Call the API from a page of this server, or use an API key.',
  })
}
