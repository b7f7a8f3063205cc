/**
 * Finds the session of a request, and the facts about its client that sessions store and the
 * throttle of logins uses.
 */
import type { IncomingMessage } from 'node:http'
import type { Core } from '../../core/core.ts'
import type { SessionUser } from '../../features/tenancy/accounts/callers/caller.ts'
import type { SessionGuesser } from '../../features/tenancy/accounts/login/confirm-password.ts'
import { findSession } from '../../features/tenancy/accounts/sessions/find.ts'
import type { SessionClient } from '../../features/tenancy/accounts/sessions/sessions.ts'
import type { UserCall } from '../route.ts'
import { addressGroup, addressNetwork } from '../server/client-address.ts'
import { DEVICE_COOKIE, readCookie, sessionCookieName } from './cookies.ts'

type SessionDeps = Pick<Core, 'store' | 'config' | 'now' | 'sessionTokens'>

/**
 * The user who is logged in, on routes that anyone may call. Undefined without a valid session, and for requests with
 * an Authorization header.
 */
export async function findSessionUser(
  deps: SessionDeps,
  incoming: IncomingMessage,
): Promise<SessionUser | undefined> {
  const cookie = readCookie(incoming, sessionCookieName(deps.config))
  if (cookie === undefined || incoming.headers.authorization !== undefined) return undefined
  return (await findSession(deps, cookie))?.user
}

/** The facts of the client that a new session stores. */
export function clientOf({ headers }: IncomingMessage, address: string | null): SessionClient {
  return { ip: address, userAgent: headers['user-agent'] ?? null }
}

/** Who sends a password or a code in a session, for the throttle of logins. */
export function guesserOf({
  user,
  address,
  incoming,
}: Pick<UserCall<unknown, unknown>, 'user' | 'address' | 'incoming'>): SessionGuesser {
  return {
    userId: user.id,
    account: user.address,
    network: addressGroup(address),
    wideNetwork: addressNetwork(address),
    device: readCookie(incoming, DEVICE_COOKIE),
  }
}
