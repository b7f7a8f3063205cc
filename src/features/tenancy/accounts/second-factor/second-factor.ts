/**
 * Turns the second factor on and off. Turning it on takes two steps: the server makes a secret, and the user
 * shows with a code that the authenticator app has it. Until then logins need no code.
 */
import { AppError, invalidField } from '../../../../base/errors.ts'
import type { NewSecondFactor } from '../../../../records/login.ts'
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import {
  type LoginSession,
  recoveryCodes,
  type User,
  users,
} from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { noSession, requireUser } from '../callers/admit.ts'
import {
  asAttempt,
  type GivenPassword,
  type SessionGuesser,
  withPassword,
} from '../login/confirm-password.ts'
import type { LoginDeps } from '../login/log-in.ts'
import { endAccess, issueCookie, type SessionCookie } from '../sessions/sessions.ts'
import {
  digestRecoveryCode,
  hasSecondFactor,
  makeRecoveryCodes,
  readCode,
  useCode,
} from './codes.ts'
import { findTotpStep, makeTotpSecret, totpUri } from './totp.ts'

type GivenCode = SessionGuesser & {
  session: Pick<LoginSession, 'id'>
  code: string
}

/**
 * Makes a secret, which replaces an unconfirmed one.
 * @throws AppError as `withPassword`, CONFLICT when the second factor is on
 */
export async function startTotp(deps: LoginDeps, given: GivenPassword): Promise<NewSecondFactor> {
  return withPassword(deps, given, async (user) => {
    const secret = makeTotpSecret()
    const change = { totpSecret: deps.keyring.seal(secret), totpStep: 0 }
    const hasNone = and(
      eq(users.id, user.id),
      eq(users.passwordHash, user.passwordHash),
      isNull(users.totpConfirmedAt),
    )
    const [changed] = await deps.store.write(async (tx) => {
      await requireUser(tx, user.id)
      return tx.update(users).set(change).where(hasNone).returning({ id: users.id })
    })
    if (changed === undefined) throw alreadyOn()
    const { hostname } = new URL(deps.config.baseUrl)
    return { secret, uri: totpUri(secret, { host: hostname, address: user.address }) }
  })
}

/**
 * Confirms the secret, which takes effect: all other sessions end, and this one gets a new cookie.
 * @returns the recovery codes, which are shown only now
 * @throws AppError VALIDATION_ERROR (code), BAD_REQUEST without a secret, CONFLICT when the second factor is
 *   on, RATE_LIMIT_EXCEEDED, UNAUTHORIZED
 */
export async function confirmTotp(
  deps: LoginDeps,
  given: GivenCode,
): Promise<{ recoveryCodes: string[]; cookie: SessionCookie }> {
  const { secret, step } = await asAttempt(deps, given, (user) =>
    readFirstCode(deps, user, given.code),
  )
  const codes = makeRecoveryCodes()
  const digests = codes.map((code) => digestRecoveryCode(given.userId, code))
  const at = deps.now()
  const session = await deps.store.write(async (tx) => {
    await requireUser(tx, given.userId)
    await turnOn(tx, { userId: given.userId, secret, step, at })
    await replaceCodes(tx, given.userId, digests)
    const renamed = await endAccess(tx, { userId: given.userId, at }, given.session)
    if (renamed === undefined) throw noSession()
    return renamed
  })
  return { recoveryCodes: codes, cookie: await issueCookie(deps, session) }
}

/**
 * Turns the second factor off. The user gives the password and a code or a recovery code. All other
 * sessions end, and this one gets a new cookie.
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

/** Returns the sealed secret, and the time step of the code. */
async function readFirstCode(
  { keyring, now }: LoginDeps,
  { totpSecret: secret, totpConfirmedAt: confirmedAt }: User,
  code: string,
): Promise<{ secret: string; step: number }> {
  if (confirmedAt !== null) throw alreadyOn()
  if (secret === null) throw noSecret()
  const step = findTotpStep(keyring.unseal(secret), code.replace(/\s/g, ''), now())
  if (step === undefined) throw wrongCode()
  return { secret, step }
}

type Confirmation = { userId: string; secret: string; step: number; at: number }

async function turnOn(tx: Tx, { userId, secret, step, at }: Confirmation): Promise<void> {
  const isSame = and(
    eq(users.id, userId),
    eq(users.totpSecret, secret),
    isNull(users.totpConfirmedAt),
  )
  const [on] = await tx
    .update(users)
    .set({ totpConfirmedAt: at, totpStep: step, updatedAt: at })
    .where(isSame)
    .returning({ id: users.id })
  if (on === undefined) throw alreadyOn()
}

async function replaceCodes(tx: Tx, userId: string, digests: readonly string[]): Promise<void> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  await tx.insert(recoveryCodes).values(digests.map((digest) => ({ userId, digest })))
}

function wrongCode(): AppError {
  return invalidField('code', 'custom', 'This code is wrong, or was used before')
}

function noSecret(): AppError {
  return new AppError('BAD_REQUEST', 'There is no second factor to confirm.', {
    suggestion: 'POST /users/@me/totp makes the secret.',
  })
}

function alreadyOn(): AppError {
  return new AppError('CONFLICT', 'The second factor is on, or was changed meanwhile.', {
    suggestion: 'Turn it off first: DELETE /users/@me/totp.',
  })
}

function isOff(): AppError {
  return new AppError('BAD_REQUEST', 'The second factor is off.')
}
