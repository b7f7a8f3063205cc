/**
 * Refuses requests that name a foreign host, on routes that admit a client by its address or by a
 * cookie. A page whose name an attacker lets resolve to this server (DNS rebinding) is same-origin
 * for the browser, so only the host shows whose page it is. An IP literal cannot be rebound. A
 * client without a Host field (HTTP/1.0) is no browser. `X-Forwarded-Host` counts nowhere: pages
 * can send it.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { AppError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { isLoopbackHost } from '../../config/values/listen-address.ts'
import { ruleOf } from '../../features/tenancy/accounts/callers/caller.ts'
import type { Route } from '../route.ts'

type HostConfig = Pick<Config, 'baseUrl'> & {
  delivery: Pick<Config['delivery'], 'hostname'>
  http: Pick<Config['http'], 'allowedHosts'>
}

/** Finds a host in a request that is not one of this server's; undefined if there is none. */
export type FindOtherHost = (
  incoming: Pick<IncomingMessage, 'headers' | 'url'>,
) => string | undefined

/** Routes for anyone whose operations read or set cookies. */
const COOKIE_PATHS = /^\/(?:app|auth|invitations|oauth|reset-password|setup|verify-email)(?:\/|$)/
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i
const MAX_SHOWN = 100

export function createHostCheck({ baseUrl, delivery, http }: HostConfig): FindOtherHost {
  const { hostname } = new URL(baseUrl)
  const own = new Set([hostname, delivery.hostname, ...http.allowedHosts].map(plainHost))
  return ({ headers, url = '' }) =>
    [headers.host, ABSOLUTE_FORM.exec(url)?.[1]].find((named) => {
      if (named === undefined) return false
      const host = plainHost(named)
      return isIP(host) === 0 && !isLoopbackHost(host) && !own.has(host)
    })
}

/** Whether the route admits monitors, or reads sessions or other cookies. */
export function needsOwnHost({ callers, path }: Pick<Route, 'callers' | 'path'>): boolean {
  return callers === 'anyone' ? COOKIE_PATHS.test(path) : ruleOf(callers).session !== null
}

/** @throws AppError MISDIRECTED_REQUEST */
export function refuseOtherHost(
  findOtherHost: FindOtherHost,
  route: Pick<Route, 'callers' | 'path'>,
  incoming: IncomingMessage,
): void {
  if (!needsOwnHost(route)) return
  const host = findOtherHost(incoming)
  if (host === undefined) return
  // A request with a key needs no check: the key makes the cookie ignored, and a foreign page knows
  // no key.
  const { callers } = route
  const hasKey = incoming.headers.authorization !== undefined
  if (hasKey && callers !== 'anyone' && callers !== 'operator or monitor') return
  const shown = host.slice(0, MAX_SHOWN)
  throw new AppError('MISDIRECTED_REQUEST', `This server does not answer for the host "${shown}".`)
}

/** Without port, brackets and final dot, in lower case. */
function plainHost(authority: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d*)?$/.exec(authority) ?? []
  return (bracketed ?? authority.replace(/:\d*$/, '')).toLowerCase().replace(/\.$/, '')
}
