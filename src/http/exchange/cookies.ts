/**
 * Cookies of login sessions and of browsers (RFC 6265). With an https `base_url` the session's cookie has
 * the prefix `__Host-`: no other host, and no page in clear, can set it.
 */
import type { IncomingMessage } from 'node:http'
import type { Config } from '../../config/config.ts'

/** `maxAgeSeconds` 0 deletes the cookie. */
type Cookie = { name: string; value: string; maxAgeSeconds: number; path?: string }

/** The cookie of a browser in which a user has logged in or chosen a password before. */
export const DEVICE_COOKIE = 'pillarbox_device'

export function isSecure({ baseUrl }: Pick<Config, 'baseUrl'>): boolean {
  return baseUrl.startsWith('https:')
}

export function sessionCookieName(config: Pick<Config, 'baseUrl'>): string {
  return isSecure(config) ? '__Host-pillarbox_session' : 'pillarbox_session'
}

/** Returns the value of the first cookie with this name; undefined if there is none. */
export function readCookie({ headers }: IncomingMessage, name: string): string | undefined {
  for (const pair of headers.cookie?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/**
 * Returns the value of a Set-Cookie header field. The cookie is host-only, HttpOnly and
 * SameSite=Lax.
 */
export function formatCookie(config: Pick<Config, 'baseUrl'>, cookie: Cookie): string {
  const { name, value, maxAgeSeconds, path = '/' } = cookie
  const secure = isSecure(config) ? '; Secure' : ''
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
}

/** `expiresAt`: epoch milliseconds. */
type Token = { token: string; expiresAt: number }

/** Sets the session's cookie until the token expires. */
export function sessionCookie(config: Pick<Config, 'baseUrl'>, token: Token, at: number): string {
  return formatCookie(config, { name: sessionCookieName(config), ...valueUntil(token, at) })
}

/** Sets the browser's cookie until the token expires. */
export function deviceCookie(config: Pick<Config, 'baseUrl'>, token: Token, at: number): string {
  return formatCookie(config, { name: DEVICE_COOKIE, ...valueUntil(token, at) })
}

/** The cookies for a browser in which a user has logged in or chosen a password. */
export function loginCookies(
  config: Pick<Config, 'baseUrl'>,
  { session, device }: { session: Token; device: Token },
  at: number,
): string[] {
  return [sessionCookie(config, session, at), deviceCookie(config, device, at)]
}

function valueUntil({ token, expiresAt }: Token, at: number) {
  return { value: token, maxAgeSeconds: Math.max(0, Math.floor((expiresAt - at) / 1000)) }
}

export function clearedSessionCookie(config: Pick<Config, 'baseUrl'>): string {
  return formatCookie(config, { name: sessionCookieName(config), value: '', maxAgeSeconds: 0 })
}
