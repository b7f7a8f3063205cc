/**
 * The token of a browser in which a user has logged in with the present password: it says so for a year
 * (`throttle.ts`), or until the password is another one.
 */
import { hash } from 'node:crypto'
import { DAY_MS } from '../../../clock.ts'
import type { User } from '../../../store/schema/accounts.ts'
import type { Base } from '../../base.ts'
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
  const id = deviceId(userId, passwordHash)
  return { token: await sessionTokens.sign('device', { id, expiresAt }), expiresAt }
}

export async function isDeviceOf(
  { sessionTokens }: Pick<DeviceDeps, 'sessionTokens'>,
  user: Pick<User, 'id' | 'passwordHash'> | undefined,
  token: string | undefined,
): Promise<boolean> {
  const passwordHash = user?.passwordHash ?? null
  if (user === undefined || passwordHash === null || token === undefined) return false
  return (await sessionTokens.read('device', token)) === deviceId(user.id, passwordHash)
}

/** The salt in the hash keeps the digest from telling anything about the password. */
function deviceId(userId: string, passwordHash: string): string {
  return `${userId}.${hash('sha256', passwordHash, 'base64url').slice(0, DIGEST_LENGTH)}`
}
