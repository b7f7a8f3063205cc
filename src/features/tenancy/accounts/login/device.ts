/**
 * The token of a browser in which a user has logged in with, or chosen, the present password: it says so for
 * a year (`throttle.ts`), or until another hash is stored.
 */
import { hash, randomUUID } from 'node:crypto'
import { DAY_MS } from '../../../../base/clock.ts'
import type { User } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import type { SessionCookie } from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'

const LIFETIME_MS = 365 * DAY_MS
const DIGEST_LENGTH = 22

type DeviceDeps = Pick<Base, 'now'> & { sessionTokens: SessionTokens }

export async function issueDevice(
  { sessionTokens, now }: DeviceDeps,
  { id: userId, passwordHash }: { id: string; passwordHash: string },
): Promise<SessionCookie> {
  const expiresAt = now() + LIFETIME_MS
  const id = `${prefixOf(userId, passwordHash)}${randomUUID()}`
  return { token: await sessionTokens.sign('device', { id, expiresAt }), expiresAt }
}

/** The id of the browser that has the token; undefined unless it knows this user. */
export async function findDevice(
  { sessionTokens }: Pick<DeviceDeps, 'sessionTokens'>,
  user: Pick<User, 'id' | 'passwordHash'> | undefined,
  token: string | undefined,
): Promise<string | undefined> {
  const passwordHash = user?.passwordHash ?? null
  if (user === undefined || passwordHash === null || token === undefined) return undefined
  const id = await sessionTokens.read('device', token)
  return id?.startsWith(prefixOf(user.id, passwordHash)) ? id : undefined
}

/** The salt in the hash keeps the digest from telling anything about the password. */
function prefixOf(userId: string, passwordHash: string): string {
  return `${userId}.${hash('sha256', passwordHash, 'base64url').slice(0, DIGEST_LENGTH)}.`
}
