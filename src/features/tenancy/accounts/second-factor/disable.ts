/** Turns the second factor off. */
import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type LoginSession, recoveryCodes, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { noSession } from '../callers/admit.ts'
import { type GivenPassword, withPassword } from '../login/confirm-password.ts'
import type { LoginDeps } from '../login/log-in.ts'
import { endAccess } from '../sessions/end-access.ts'
import { issueCookie, type SessionCookie } from '../sessions/sessions.ts'
import { requireUser } from '../users/require-user.ts'
import { hasSecondFactor, readCode, useCode } from './code.ts'
import { wrongCode } from './enable.ts'

/**
 * The user gives the password and a code or a recovery code. All other sessions end, and this one gets a
 * new cookie.
 * @throws AppError as `withPassword`, VALIDATION_ERROR (code), BAD_REQUEST when it is off
 */
export async function disableTotp(
  deps: LoginDeps,
  given: GivenPassword & { code: string; session: Pick<LoginSession, 'id'> },
): Promise<SessionCookie> {
  return withPassword(deps, given, async (user) => {
    if (!hasSecondFactor(user)) throw isOff()
    const proof = readCode(deps, user, given.code)
    if (proof === undefined) throw wrongCode()
    const at = deps.now()
    const session = await deps.store.write(async (tx) => {
      await requireUser(tx, user.id)
      if (!(await useCode(tx, user.id, proof))) throw wrongCode()
      await clearTotp(tx, user.id, at)
      const renamed = await endAccess(tx, { userId: user.id, at }, given.session)
      if (renamed === undefined) throw noSession()
      return renamed
    })
    return issueCookie(deps, session)
  })
}

/** Removes the secret, confirmed or not, and the recovery codes. */
export async function clearTotp(tx: Tx, userId: string, at: number): Promise<void> {
  const none = { totpSecret: null, totpConfirmedAt: null, totpStep: 0, updatedAt: at }
  await tx.update(users).set(none).where(eq(users.id, userId))
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
}

function isOff(): AppError {
  return new AppError('BAD_REQUEST', 'The second factor is off.')
}
