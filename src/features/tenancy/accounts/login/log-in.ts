/**
 * Logging in with a password, and with a code if the user has a second factor. A stranger learns
 * nothing from an answer or its time: a wrong password, an unknown address, a user of another
 * method and the sandbox's user in other modes get the same answer after the same computation.
 *
 * The order: the throttle, a place in the line (some are kept for browsers that know the user), the
 * user, the limit of the account everywhere, the password, the code. One transaction uses the code
 * up, checks that the password was not changed, and begins the session. It also ends the session of
 * the request's cookie (session fixation).
 */
import { eq } from '../../../../store/drizzle.ts'
import { type LoginSession, type User, users } from '../../../../store/schema/accounts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { hashPassword, isOutdated, isPassword } from '../passwords/passwords.ts'
import { type CodeProof, hasSecondFactor, readCode, useCode } from '../second-factor/codes.ts'
import {
  endPresented,
  insertSession,
  issueCookie,
  readPresented,
  type SessionClient,
  type SessionCookie,
} from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'
import { findDevice, issueDevice } from './device.ts'
import type { LoginQueue } from './queue.ts'
import type { LoginThrottle, ThrottledAttempt } from './throttle.ts'

export type LoginDeps = Pick<Base, 'store' | 'config' | 'keyring' | 'now'> & {
  sessionTokens: SessionTokens
  loginThrottle: LoginThrottle
  loginQueue: LoginQueue
}

type LoginInput = {
  address: string
  password: string
  /** The code of the authenticator app, or a recovery code. */
  code: string | undefined
  /** The name of the client's network (`login/throttle.ts`). */
  network: string
  /** The name of the client's wider network, for the line of logins (`login/queue.ts`). */
  wideNetwork: string
  client: SessionClient
  /** The values of the two cookies. */
  session: string | undefined
  device: string | undefined
  /** Aborts when the client is gone. */
  signal: AbortSignal
}

export type LoginResult =
  | {
      kind: 'done'
      user: { id: string; email: string }
      session: SessionCookie
      device: SessionCookie
    }
  | { kind: 'refused' | 'code-needed' | 'code-wrong' }

/** A user whose password was right, with what is checked again when the session begins. */
type Proven = {
  user: User
  passwordHash: string
  /** A new hash of the password, if the stored one has outdated parameters. */
  renewed: string | undefined
}

const findUser = statement((db) =>
  db
    .select()
    .from(users)
    .where(eq(users.address, parameter('address'))),
)

/** @throws AppError RATE_LIMIT_EXCEEDED, EXTERNAL_SERVICE_ERROR when too many log in at a time */
export async function logIn(deps: LoginDeps, input: LoginInput): Promise<LoginResult> {
  const { address: account, network } = input
  const attempt = deps.loginThrottle.begin({ account, network })
  try {
    const first = await tryLogIn(deps, input, attempt)
    if (first !== 'changed') return first
    // The hash changed meanwhile. If another login only renewed it, the password is still right, so
    // it is checked once more.
    const second = await tryLogIn(deps, input, attempt)
    return second === 'changed' ? fail(attempt, 'refused') : second
  } finally {
    attempt.end()
  }
}

/**
 * Checks password and code, and begins the session. `changed`: the user's row changed between the
 * check and the begin of the session.
 */
async function tryLogIn(
  deps: LoginDeps,
  input: LoginInput,
  attempt: ThrottledAttempt,
): Promise<LoginResult | 'changed'> {
  const check = () => checkPassword(deps, input, attempt)
  const { wideNetwork, signal } = input
  const isKnown = await isKnownBrowser(deps, input)
  const proven = await deps.loginQueue.run(check, { wideNetwork, isKnown, signal })
  if (proven === undefined) return fail(attempt, 'refused')
  const { user } = proven
  if (!hasSecondFactor(user)) return begin(deps, input, { ...proven, proof: undefined, attempt })
  // A right password without a code is no success, because a success would clear the failures of
  // codes.
  if (input.code === undefined) return { kind: 'code-needed' }
  const proof = readCode(deps, user, input.code)
  if (proof === undefined) return fail(attempt, 'code-wrong')
  return begin(deps, input, { ...proven, proof, attempt })
}

/**
 * Whether the browser knows the user. The user is looked up only if this server has signed the
 * token.
 */
async function isKnownBrowser(
  deps: LoginDeps,
  { address, device }: Pick<LoginInput, 'address' | 'device'>,
): Promise<boolean> {
  if (device === undefined) return false
  if ((await deps.sessionTokens.read('device', device)) === undefined) return false
  const user = await deps.store.read.find(findUser, { address })
  return (await findDevice(deps, user, device)) !== undefined
}

function fail(attempt: ThrottledAttempt, kind: 'refused' | 'code-wrong'): LoginResult {
  attempt.failed()
  return { kind }
}

async function checkPassword(
  deps: LoginDeps,
  { address, password, device, signal }: LoginInput,
  attempt: ThrottledAttempt,
): Promise<Proven | undefined> {
  const user = await deps.store.read.find(findUser, { address })
  attempt.limitEverywhere(await findDevice(deps, user, device))
  const passwordHash = user === undefined ? null : usableHash(deps, user)
  const isRight = await isPassword(password, passwordHash, signal)
  if (!isRight || user === undefined || passwordHash === null) return undefined
  const renewed = isOutdated(passwordHash) ? await hashPassword(password, signal) : undefined
  return { user, passwordHash, renewed }
}

function usableHash({ config }: LoginDeps, user: User): string | null {
  const { method, passwordHash, isSandbox } = user
  if (method !== 'PASSWORD' || passwordHash === '') return null
  return isSandbox && config.delivery.mode !== 'sandbox' ? null : passwordHash
}

async function begin(
  deps: LoginDeps,
  input: LoginInput,
  proven: Proven & { proof: CodeProof | undefined; attempt: ThrottledAttempt },
): Promise<LoginResult | 'changed'> {
  const { user, passwordHash, renewed, proof, attempt } = proven
  const presented = await readPresented(deps, input.session)
  const session = await deps.store.write(async (tx) => {
    if (!(await isUnchanged(tx, proven))) return 'changed'
    if (proof !== undefined && !(await useCode(tx, user.id, proof))) return 'code-wrong'
    if (renewed !== undefined) await setHash(tx, user.id, renewed)
    await endPresented(tx, presented)
    return insertSession(tx, { userId: user.id, client: input.client, at: deps.now() })
  })
  if (session === 'changed') return session
  if (session === 'code-wrong') return fail(attempt, session)
  attempt.succeeded()
  return succeed(deps, { user, passwordHash: renewed ?? passwordHash }, session)
}

/**
 * Whether password and second factor are still the checked ones. A change of either has ended all
 * sessions, so no new one may begin.
 */
async function isUnchanged(tx: Tx, { user, passwordHash }: Proven): Promise<boolean> {
  const found = await tx
    .select({ passwordHash: users.passwordHash, confirmedAt: users.totpConfirmedAt })
    .from(users)
    .where(eq(users.id, user.id))
    .get()
  return found?.passwordHash === passwordHash && found.confirmedAt === user.totpConfirmedAt
}

async function setHash(tx: Tx, userId: string, passwordHash: string): Promise<void> {
  await tx.update(users).set({ passwordHash }).where(eq(users.id, userId))
}

async function succeed(
  deps: LoginDeps,
  { user, passwordHash }: Pick<Proven, 'user' | 'passwordHash'>,
  session: LoginSession,
): Promise<LoginResult> {
  return {
    kind: 'done',
    user: { id: user.id, email: user.address },
    session: await issueCookie(deps, session),
    device: await issueDevice(deps, { id: user.id, passwordHash }),
  }
}
