/**
 * Providers with whose accounts people log in: GitHub by plain OAuth 2.0 (RFC 6749), Google and one
 * more by OpenID Connect. A login begins here as an attempt, goes on at the provider, and ends with
 * the provider's answer at our callback.
 */
import type { AccountMethod } from '../../../../store/schema/words.ts'

export type ProviderName = 'github' | 'google' | 'oidc'

/** What the browser keeps from the begin of a login to the provider's answer. */
export type OauthAttempt = {
  provider: ProviderName
  /** A random text that the answer repeats (RFC 6749 section 10.12). */
  state: string
  /** A random text that the id token repeats (OpenID Connect Core 3.1.2.1). */
  nonce: string
  /** A secret that proves that the answer belongs to this attempt (PKCE, RFC 7636). */
  verifier: string
}

/** The user's address according to the provider; null if it gives none. */
export type ClaimedAddress = { address: string | null; isVerified: boolean }

/** A user of a provider. Issuer and subject identify the user, because addresses change owners. */
export type ProviderUser = {
  issuer: string
  subject: string
  /**
   * Finds the address, and asks the provider for it if the answer has none.
   * @throws LoginFailure
   */
  findAddress(): Promise<ClaimedAddress>
}

export type IdentityProvider = {
  name: ProviderName
  /** The name of the provider that people know. */
  label: string
  method: Exclude<AccountMethod, 'PASSWORD'>
  /** Whether new users may sign up through this provider even if sign-ups are disabled. */
  allowsSignup: boolean
  /** Returns the URL at which the browser logs in. @throws LoginFailure */
  authorizationUrl(attempt: OauthAttempt): Promise<URL>
  /**
   * Reads the query of the provider's answer, and exchanges its code for the user.
   * @throws LoginFailure
   */
  identify(answer: URLSearchParams, attempt: OauthAttempt): Promise<ProviderUser>
}

/**
 * Returns the URL to which the provider sends the browser. The provider has it registered in this
 * spelling.
 */
export function callbackUrl(baseUrl: string, name: ProviderName): URL {
  return new URL(`${baseUrl}/oauth/${name}/callback`)
}
