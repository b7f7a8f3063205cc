/**
 * Asks a user who has logged in for the password again, before an act that only the owner of the
 * account may do. A wrong password counts as a failed login, so that a thief of the session cannot
 * guess the password.
 */
import { AppError, invalidField } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type User, users } from '../../../../store/schema/accounts.ts'
import { noSession } from '../callers/admit.ts'
import { isPassword } from '../passwords/passwords.ts'
import { findDevice } from './device.ts'
import type { LoginDeps } from './log-in.ts'
import type { Placed } from './queue.ts'
import type { ThrottledAttempt } from './throttle.ts'

type GuesserDeps = Pick<LoginDeps, 'store' | 'loginThrottle' | 'sessionTokens'>
type PasswordDeps = GuesserDeps & Pick<LoginDeps, 'loginQueue'>

/** Who sends the request: the user, or a thief of the session. */
export type SessionGuesser = {
  userId: string
  /** The address of the user. */
  account: string
  network: string
  /** The name of the client's wider network, for the line of logins (`login/queue.ts`). */
  wideNetwork: string
  /** The value of the cookie that shows whether the browser knows the user. */
  device: string | undefined
}

export type GivenPassword = SessionGuesser & {
  password: string
  /** The field of the request that holds the password. */
  field: string
  signal: AbortSignal
}

/** A user whose password was right when it was checked. `passwordHash` is the hash at that time. */
type ConfirmedUser = User & { passwordHash: string }

/**
 * Runs `act` as one attempt of the throttle, with the user whose password was given. An error of
 * `act` with fields, such as a wrong code, is a failure too.
 * @throws AppError RATE_LIMIT_EXCEEDED, EXTERNAL_SERVICE_ERROR, BAD_REQUEST (user of another method),
 *   VALIDATION_ERROR (the given field), UNAUTHORIZED
 */
export async function withPassword<T>(
  deps: PasswordDeps,
  given: GivenPassword,
  act: (user: ConfirmedUser) => Promise<T>,
): Promise<T> {
  return asAttempt(deps, given, async (user) => act(await confirmPassword(deps, user, given)))
}

/**
 * Runs `act` as one attempt of the throttle, with all limits of a login; an error with fields is a
 * failure. A success clears no failures: otherwise a right password would clear the failures of
 * codes.
 * @throws AppError RATE_LIMIT_EXCEEDED, UNAUTHORIZED when the user is gone
 */
export async function asAttempt<T>(
  deps: GuesserDeps,
  { userId, account, network, device }: SessionGuesser,
  act: (user: User) => Promise<T>,
): Promise<T> {
  const attempt = deps.loginThrottle.begin({ account, network })
  try {
    const user = await deps.store.read.select().from(users).where(eq(users.id, userId)).get()
    if (user === undefined) throw noSession()
    attempt.limitEverywhere(await findDevice(deps, user, device))
    return await act(user)
  } catch (error) {
    countFailure(attempt, error)
    throw error
  } finally {
    attempt.end()
  }
}

function countFailure(attempt: ThrottledAttempt, error: unknown): void {
  if (error instanceof AppError && error.fields !== undefined) attempt.failed()
}

async function confirmPassword(
  deps: PasswordDeps,
  user: User,
  { password, field, ...given }: GivenPassword,
): Promise<ConfirmedUser> {
  const { method, passwordHash } = user
  if (method !== 'PASSWORD' || passwordHash === null || passwordHash === '') throw noPassword()
  const placed = await placeOfUser(deps, user, given)
  const check = () => isPassword(password, passwordHash, placed.signal)
  const isRight = await deps.loginQueue.run(check, placed)
  if (!isRight) throw invalidField(field, 'custom', 'This is not your password')
  return { ...user, passwordHash }
}

/** Returns what the line of logins needs to know of a logged-in user. */
export async function placeOfUser(
  deps: Pick<GuesserDeps, 'sessionTokens'>,
  user: Pick<User, 'id' | 'passwordHash'>,
  { wideNetwork, device, signal }: Pick<GivenPassword, 'wideNetwork' | 'device' | 'signal'>,
): Promise<Placed> {
  const isKnown = (await findDevice(deps, user, device)) !== undefined
  return { wideNetwork, isKnown, signal }
}

function noPassword(): AppError {
  return new AppError('BAD_REQUEST', 'You log in without a password of this server.', {
    suggestion: 'Change it, and its second factor, where you log in.',
  })
}
