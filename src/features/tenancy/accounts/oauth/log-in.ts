/**
 * The last step of a login with a provider. The session is for the user that issuer and subject
 * name; at the first login this is a new user. The second factor does not apply, because it belongs
 * to passwords, and providers have their own.
 *
 * The provider's address counts only at the first login, and only if the provider calls it
 * verified. A login never leads to an account that merely has the same address: the owner of the
 * address at the provider may be another person, and an account has one way to log in. Later
 * changes of the address at the provider change nothing here.
 */
import { AppError } from '../../../../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../../../../formats/address/address.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { identities } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { Verifier } from '../../../people/verification/verifier.ts'
import { isInvited } from '../invitations/open.ts'
import {
  endPresented,
  insertSession,
  issueCookie,
  readPresented,
  type SessionClient,
  type SessionCookie,
} from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'
import { isSetupOpen } from '../setup/is-open.ts'
import { type AddressFaultDeps, findAddressFault } from '../sign-up/address-fault.ts'
import { findUserId, insertUser } from '../users/users.ts'
import { LoginFailure } from './login-failure.ts'
import type { IdentityProvider, ProviderUser } from './provider.ts'

type LoginDeps = Pick<Base, 'store' | 'config' | 'now' | 'disk'> & {
  sessionTokens: SessionTokens
  verifier: Verifier
}

type Login = {
  provider: IdentityProvider
  user: ProviderUser
  client: SessionClient
  /** The cookie of the browser's present session, which ends. */
  presented: string | undefined
  /** The language of a new user. */
  language: string
}

type SignUpDeps = Pick<Base, 'config' | 'now'>

type ReadDeps = AddressFaultDeps & Pick<Base, 'store' | 'disk'>

/** A user of a provider who may get an account here. */
type NewAccount = Pick<ProviderUser, 'issuer' | 'subject'> & {
  address: string
  provider: Pick<IdentityProvider, 'method' | 'allowsSignup'>
  language: string
}

/** @throws LoginFailure; AppError INSUFFICIENT_STORAGE for a new user on a nearly full disk */
export async function logInWithProvider(deps: LoginDeps, login: Login): Promise<SessionCookie> {
  const { store, now } = deps
  const { user, client, presented } = login
  const isKnown = (await findIdentityUserId(store.read, user)) !== undefined
  const account = isKnown ? undefined : await readAccount(deps, login)
  const old = await readPresented(deps, presented)
  const at = now()
  const session = await store.write(async (tx) => {
    const userId = (await findIdentityUserId(tx, user)) ?? (await signUpNew(deps, tx, account))
    await endPresented(tx, old)
    return insertSession(tx, { userId, client, at })
  })
  return issueCookie(deps, session)
}

async function findIdentityUserId(
  db: Pick<Tx, 'select'>,
  { issuer, subject }: Pick<ProviderUser, 'issuer' | 'subject'>,
): Promise<string | undefined> {
  const found = await db
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
    .get()
  return found?.userId
}

async function signUpNew(
  deps: LoginDeps,
  tx: Tx,
  account: NewAccount | undefined,
): Promise<string> {
  if (account !== undefined) return signUp(deps, tx, account)
  throw new LoginFailure('expired', 'the user was deleted during the login')
}

/** Reads the new account from the provider. @throws LoginFailure; AppError INSUFFICIENT_STORAGE */
async function readAccount(
  deps: ReadDeps,
  input: { provider: IdentityProvider; user: ProviderUser; language: string },
): Promise<NewAccount> {
  const { provider, user, language } = input
  const { address, isVerified } = await user.findAddress()
  const parsed = address === null || !isVerified ? undefined : parseAddress(address)
  if (parsed === undefined) {
    throw new LoginFailure('email_unverified', 'the provider calls no address verified')
  }
  if (deps.disk.isLow()) {
    throw new AppError('INSUFFICIENT_STORAGE', 'No account can be made at the moment.')
  }
  // The transaction decides about an address that has an account: the account may be this user's,
  // made a moment ago.
  const isTaken = (await findUserId(deps.store.read, parsed.address)) !== undefined
  if (!isTaken) await refuseFaulty(deps, parsed)
  const { issuer, subject } = user
  return { issuer, subject, address: parsed.address, provider, language }
}

/** Returns the id of the new user. @throws LoginFailure method_mismatch, signup_disabled, setup_needed */
async function signUp(deps: SignUpDeps, tx: Tx, account: NewAccount): Promise<string> {
  const { issuer, subject, address, provider, language } = account
  if ((await findUserId(tx, address)) !== undefined) {
    throw new LoginFailure('method_mismatch', 'the address has an account already')
  }
  const at = deps.now()
  if (!(await maySignUp(deps, tx, account))) {
    throw new LoginFailure('signup_disabled', 'new accounts are not allowed')
  }
  if (await isSetupOpen(deps, tx)) {
    throw new LoginFailure('setup_needed', 'the first user of this server is not made yet')
  }
  const { method } = provider
  const user = { address, method, language, isSandbox: false, passwordHash: null, at }
  const userId = await insertUser(tx, { ...user, isProven: true })
  await tx.insert(identities).values({ issuer, subject, userId, createdAt: at })
  return userId
}

/**
 * Refuses addresses that new accounts may not have.
 * @throws LoginFailure address_refused, or other when DNS gives no answer
 */
async function refuseFaulty(deps: ReadDeps, address: ParsedAddress): Promise<void> {
  const fault = await findAddressFault(deps, address).catch((error) => {
    if (error instanceof AppError) throw new LoginFailure('other', error.message)
    throw error
  })
  if (fault !== undefined) throw new LoginFailure('address_refused', fault)
}

async function maySignUp(
  { config, now }: SignUpDeps,
  tx: Tx,
  { provider, address }: NewAccount,
): Promise<boolean> {
  if (!config.accounts.disableSignups || provider.allowsSignup) return true
  return isInvited(tx, address, now())
}
