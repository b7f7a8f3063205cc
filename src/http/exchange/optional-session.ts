/** The session on routes that anyone may call: a user who is logged in sees more there. */
import type { IncomingMessage } from 'node:http'
import type { Core } from '../../core/core.ts'
import type { SessionUser } from '../../features/tenancy/accounts/callers/caller.ts'
import { findSession } from '../../features/tenancy/accounts/sessions/find.ts'
import type { Client } from '../../features/tenancy/accounts/sessions/sessions.ts'
import { readCookie, sessionCookieName } from './cookies.ts'

type SessionDeps = Pick<Core, 'store' | 'config' | 'now' | 'sessionTokens'>

/** Undefined without a valid session, and for requests with an Authorization header. */
export async function findSessionUser(
  deps: SessionDeps,
  incoming: IncomingMessage,
): Promise<SessionUser | undefined> {
  const cookie = readCookie(incoming, sessionCookieName(deps.config))
  if (cookie === undefined || incoming.headers.authorization !== undefined) return undefined
  return (await findSession(deps, cookie))?.user
}

/** The facts of the client that a new session stores. */
export function clientOf({ headers }: IncomingMessage, address: string | null): Client {
  return { ip: address, userAgent: headers['user-agent'] ?? null }
}
