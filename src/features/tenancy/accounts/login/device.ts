/**
 * The token of a browser that knows a user, because the user has logged in there with the present
 * password, or has chosen it there (`throttle.ts`). The token is valid for a year, or until another
 * hash of the password is stored.
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

/**
 * Returns the id of the browser that has the token; undefined unless the browser knows this user.
 */
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

/**
 * Begins the id of a browser with a digest of the hash. The salt of the hash keeps the digest from
 * telling anything about the password.
 */
function prefixOf(userId: string, passwordHash: string): string {
  return `${userId}.${hash('sha256', passwordHash, 'base64url').slice(0, DIGEST_LENGTH)}.`
}
