/**
 * The end of a login with a provider: a session of the user that issuer and subject name, or of a new one.
 * The second factor does not apply: it belongs to passwords, and providers have their own.
 */
import { and, eq } from '../../../../store/drizzle.ts'
import { identities } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { Verifier } from '../../../people/verification/verifier.ts'
import {
  type Client,
  endPresented,
  insertSession,
  issueCookie,
  readPresented,
  type SessionCookie,
} from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'
import { LoginFailure } from './login-failure.ts'
import type { IdentityProvider, ProviderUser } from './provider.ts'
import { type NewAccount, readAccount, signUp } from './sign-up.ts'

type LoginDeps = Pick<Base, 'store' | 'config' | 'now' | 'disk'> & {
  sessionTokens: SessionTokens
  verifier: Verifier
}

type Login = {
  provider: IdentityProvider
  user: ProviderUser
  client: Client
  /** The cookie of the session that the browser has; it ends. */
  presented: string | undefined
  /** Of a new user. */
  language: string
}

/** @throws LoginFailure; AppError INSUFFICIENT_STORAGE for a new user on a nearly full disk */
export async function logInWithProvider(deps: LoginDeps, login: Login): Promise<SessionCookie> {
  const { store, now } = deps
  const { user, client, presented } = login
  const isKnown = (await findUserId(store.read, user)) !== undefined
  const account = isKnown ? undefined : await readAccount(deps, login)
  const old = await readPresented(deps, presented)
  const at = now()
  const session = await store.write(async (tx) => {
    const userId = (await findUserId(tx, user)) ?? (await signUpNew(deps, tx, account))
    await endPresented(tx, old)
    return insertSession(tx, { userId, client, at })
  })
  return issueCookie(deps, session)
}

async function findUserId(
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
