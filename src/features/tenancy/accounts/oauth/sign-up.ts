/**
 * The first login of a provider's user. The address counts here only, and only if the provider calls it
 * verified. It never leads to an account that exists: whoever owns the address at the provider need not
 * be the user of the account, and an account has one way to log in. Later changes of the address at the
 * provider change nothing here.
 */
import { AppError } from '../../../../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../../../../formats/address/address.ts'
import { identities } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { isInvited } from '../invitations/open.ts'
import { type AddressFaultDeps, findAddressFault } from '../sign-up/address-fault.ts'
import { findUserId, insertUser } from '../users/users.ts'
import { LoginFailure } from './login-failure.ts'
import type { IdentityProvider, ProviderUser } from './provider.ts'

type SignUpDeps = Pick<Base, 'config' | 'now'>
type ReadDeps = AddressFaultDeps & Pick<Base, 'store' | 'disk'>

/** A provider's user who may become one of ours. */
export type NewAccount = Pick<ProviderUser, 'issuer' | 'subject'> & {
  address: string
  provider: Pick<IdentityProvider, 'method' | 'allowsSignup'>
  language: string
}

/** @throws LoginFailure; AppError INSUFFICIENT_STORAGE */
export async function readAccount(
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
  // The transaction decides about an address that has an account: it may be this user's, since just now.
  const isTaken = (await findUserId(deps.store.read, parsed.address)) !== undefined
  if (!isTaken) await refuseFaulty(deps, parsed)
  const { issuer, subject } = user
  return { issuer, subject, address: parsed.address, provider, language }
}

/** Returns the id of the new user. @throws LoginFailure method_mismatch, signup_disabled */
export async function signUp(deps: SignUpDeps, tx: Tx, account: NewAccount): Promise<string> {
  const { issuer, subject, address, provider, language } = account
  if ((await findUserId(tx, address)) !== undefined) {
    throw new LoginFailure('method_mismatch', 'the address has an account already')
  }
  const at = deps.now()
  if (!(await maySignUp(deps, tx, account))) {
    throw new LoginFailure('signup_disabled', 'new accounts are not allowed')
  }
  const { method } = provider
  const user = { address, method, language, isSandbox: false, passwordHash: null, at }
  const userId = await insertUser(tx, { ...user, isProven: true })
  await tx.insert(identities).values({ issuer, subject, userId, createdAt: at })
  return userId
}

/** @throws LoginFailure address_refused, or other when DNS gives no answer */
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
