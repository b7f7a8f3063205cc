/**
 * Users who forgot their password choose a new one, by the link in a mail. Whoever reads the mail owns
 * the address, so it counts as verified. All sessions and all other links end; the second factor stays,
 * and nobody is logged in. The browser is known from then on (`login/device.ts`): a crowd that guesses the
 * password does not keep the user from logging in with the new one.
 */
import { eq } from '../../../../store/drizzle.ts'
import { users } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { findToken, useToken } from '../links/link-tokens.ts'
import { issueDevice } from '../login/device.ts'
import type { LoginQueue, Placed } from '../login/queue.ts'
import { enqueuePlatformMail } from '../platform-mail/enqueue.ts'
import { findMailProjectId } from '../platform-mail/sender.ts'
import { endAccess, type SessionCookie } from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'
import { invalidToken } from '../sign-up/verify-address.ts'
import { markProven } from '../users/proof.ts'
import { checkPassword, hashPassword } from './passwords.ts'

type ResetDeps = Pick<Base, 'store' | 'config' | 'now'> & {
  sessionTokens: SessionTokens
  loginQueue: LoginQueue
}

const PURPOSE = 'reset-password'

/**
 * Requests a mail to any address. Whether the address has an account is looked up later. Beyond the
 * limits no mail is sent, and the answer is the same.
 */
export async function requestPasswordReset(
  { store, config, jobNotifier, now }: Pick<Base, 'store' | 'config' | 'jobNotifier' | 'now'>,
  address: string,
): Promise<void> {
  if ((await findMailProjectId({ config }, store.read)) === undefined) return
  await store.write(async (tx) => {
    await enqueuePlatformMail(tx, { kind: PURPOSE, address }, now())
    tx.afterCommit(jobNotifier.notify)
  })
}

/**
 * Finds the address of the account that a link belongs to; undefined if the link does not work any
 * more.
 */
export async function findReset(
  { store, now }: Pick<Base, 'store' | 'now'>,
  token: string,
): Promise<{ address: string } | undefined> {
  const found = await findToken({ store }, { token, purpose: PURPOSE, at: now() })
  if (found === undefined || found.isUsed) return undefined
  return store.read
    .select({ address: users.address })
    .from(users)
    .where(eq(users.id, found.userId))
    .get()
}

/**
 * Sets the new password and returns the cookie of the browser.
 * @throws AppError BAD_REQUEST for a token that is unknown, used or expired; VALIDATION_ERROR
 *   (password); EXTERNAL_SERVICE_ERROR when too many passwords wait
 */
export async function resetPassword(
  deps: ResetDeps,
  {
    token,
    password,
    wideNetwork,
    signal,
  }: { token: string; password: string } & Omit<Placed, 'isKnown'>,
): Promise<SessionCookie> {
  checkPassword(password)
  if ((await findReset(deps, token)) === undefined) throw invalidToken()
  const hash = () => hashPassword(password, signal)
  const passwordHash = await deps.loginQueue.run(hash, { wideNetwork, isKnown: false, signal })
  const at = deps.now()
  const id = await deps.store.write(async (tx) => {
    const userId = await useToken(tx, { token, purpose: PURPOSE, at })
    if (userId === undefined) throw invalidToken()
    const user = await tx.select().from(users).where(eq(users.id, userId)).get()
    const isRefused = user?.isSandbox === true && deps.config.delivery.mode !== 'sandbox'
    if (user?.method !== 'PASSWORD' || isRefused) throw invalidToken()
    await tx.update(users).set({ passwordHash, updatedAt: at }).where(eq(users.id, userId))
    await markProven(tx, userId, at)
    await endAccess(tx, { userId, at })
    return userId
  })
  return issueDevice(deps, { id, passwordHash })
}
