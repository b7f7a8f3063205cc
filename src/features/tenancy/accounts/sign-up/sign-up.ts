/**
 * Signs a new user up with an address and a password, and logs the user in. The address is not proven
 * (`users/proof.ts`): the server mails a link, or it has no mail for its users. While it should send mail but
 * cannot, nobody signs up.
 */
import { AppError } from '../../../../base/errors.ts'
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import type { LoginSession } from '../../../../store/schema/accounts.ts'
import type { HourlyLimit } from '../../../../work/limiter.ts'
import type { Base } from '../../../ground/base.ts'
import type { Verifier } from '../../../people/verification/verifier.ts'
import { issueDevice } from '../login/device.ts'
import type { LoginQueue } from '../login/queue.ts'
import { checkPassword, hashPassword } from '../passwords/passwords.ts'
import { enqueuePlatformMail } from '../platform-mail/enqueue.ts'
import { findPlatformSender } from '../platform-mail/sender.ts'
import {
  endPresented,
  insertSession,
  readPresented,
  type SessionClient,
  type SessionCookie,
} from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'
import { refuseBeforeSetup } from '../setup/is-open.ts'
import { findUserId, insertUser } from '../users/users.ts'
import { findAddressFault } from './address-fault.ts'

type SignUpDeps = Pick<
  Base,
  'store' | 'directory' | 'config' | 'health' | 'jobNotifier' | 'now'
> & {
  sessionTokens: SessionTokens
  verifier: Verifier
  loginQueue: LoginQueue
  limits: SignUpLimits
}

/** The limits on sign-ups of an IP network. */
export type SignUpLimits = {
  created: HourlyLimit
  /** The limit on refused sign-ups, because a refusal tells whether an address has an account. */
  refused: HourlyLimit
}

type NewAccount = {
  address: ParsedAddress
  password: string
  /** The language of the mail to the user. */
  language: string
  client: SessionClient
  /** The cookie of the browser's present session, which ends. */
  presented: string | undefined
  /** The name of the client's network. */
  network: string
  /** The name of the client's wider network, for the line of logins (`login/queue.ts`). */
  wideNetwork: string
  /** Aborts when the client is gone. */
  signal: AbortSignal
}

type SignedUp = {
  user: { id: string; email: string }
  session: LoginSession
  device: SessionCookie
}

/** `refusal`: a sentence for the person who signs up that says why there is no account. */
type SignUpResult = SignedUp | { refusal: string }

const TAKEN = 'An account with this email address exists already.'
const DISABLED = 'Sign-ups are disabled on this server.'

/**
 * @throws AppError VALIDATION_ERROR (password), RATE_LIMIT_EXCEEDED, CONFLICT before the server is set up,
 *   EXTERNAL_SERVICE_ERROR when the server cannot send mail, when DNS gives no answer, or when too many passwords wait
 */
export async function signUp(deps: SignUpDeps, account: NewAccount): Promise<SignUpResult> {
  checkPassword(account.password)
  if (deps.config.accounts.disableSignups) return { refusal: DISABLED }
  await refuseBeforeSetup(deps, deps.store.read)
  const { created, refused } = deps.limits
  const attempt = created.enter(account.network)
  const result = await tryToSignUp(deps, account).catch((error) => {
    attempt.abandoned()
    throw error
  })
  if ('refusal' in result) {
    attempt.abandoned()
    refused.enter(account.network).counted()
  } else {
    attempt.counted()
  }
  return result
}

async function tryToSignUp(deps: SignUpDeps, account: NewAccount): Promise<SignUpResult> {
  const { kind } = await findPlatformSender(deps)
  if (kind === 'unusable') throw mailUnusable()
  const refusal = await findRefusal(deps, account.address)
  if (refusal !== undefined) return { refusal }
  const { password, wideNetwork, signal } = account
  const hash = () => hashPassword(password, signal)
  const passwordHash = await deps.loginQueue.run(hash, { wideNetwork, isKnown: false, signal })
  try {
    return await insertAccount(deps, account, { passwordHash, isMailed: kind === 'usable' })
  } catch (error) {
    // Another sign-up has taken the address meanwhile.
    if (error instanceof AppError && error.code === 'CONFLICT') return { refusal: TAKEN }
    throw error
  }
}

async function findRefusal(deps: SignUpDeps, address: ParsedAddress): Promise<string | undefined> {
  const taken = await findUserId(deps.store.read, address.address)
  return taken === undefined ? findAddressFault(deps, address) : TAKEN
}

async function insertAccount(
  deps: SignUpDeps,
  { address: { address }, language, client, presented }: NewAccount,
  { passwordHash, isMailed }: { passwordHash: string; isMailed: boolean },
): Promise<SignedUp> {
  const { store, jobNotifier, now } = deps
  const at = now()
  const old = await readPresented(deps, presented)
  const signedUp = await store.write(async (tx) => {
    const user = { address, passwordHash, isSandbox: false, language, isProven: false, at }
    const id = await insertUser(tx, user)
    if (isMailed) {
      await enqueuePlatformMail(tx, { kind: 'verify-email', userId: id }, at)
      tx.afterCommit(jobNotifier.notify)
    }
    await endPresented(tx, old)
    const session = await insertSession(tx, { userId: id, client, at })
    return { user: { id, email: address }, session }
  })
  return { ...signedUp, device: await issueDevice(deps, { id: signedUp.user.id, passwordHash }) }
}

/** The error when the server should send mail to its users but cannot; `/health` says why. */
export function mailUnusable(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', 'This server cannot send mail at the moment.', {
    suggestion: 'Try again later, or tell the operator of this server.',
  })
}
