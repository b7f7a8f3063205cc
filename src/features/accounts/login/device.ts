/** The token of a browser in which a user has logged in: it says so for a year (`throttle.ts`). */
import { DAY_MS } from '../../../clock.ts'
import type { Base } from '../../base.ts'
import type { SessionCookie } from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'

const LIFETIME_MS = 365 * DAY_MS

type DeviceDeps = Pick<Base, 'now'> & { sessionTokens: SessionTokens }

export async function issueDevice(
  { sessionTokens, now }: DeviceDeps,
  userId: string,
): Promise<SessionCookie> {
  const expiresAt = now() + LIFETIME_MS
  return { token: await sessionTokens.sign('device', { id: userId, expiresAt }), expiresAt }
}

export async function isDeviceOf(
  { sessionTokens }: DeviceDeps,
  userId: string | undefined,
  token: string | undefined,
): Promise<boolean> {
  if (userId === undefined || token === undefined) return false
  return (await sessionTokens.read('device', token)) === userId
}
