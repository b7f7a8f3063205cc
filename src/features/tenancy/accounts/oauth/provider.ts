/**
 * Providers by whose accounts people log in: GitHub by plain OAuth 2.0 (RFC 6749), Google and one more by
 * OpenID Connect. A login is an attempt that begins here, goes on at the provider and ends with the
 * provider's answer at our callback.
 */
import type { AccountMethod } from '../../../../store/schema/words.ts'

export type ProviderName = 'github' | 'google' | 'oidc'

/** What the browser keeps between the begin of a login and the provider's answer. */
export type OauthAttempt = {
  provider: ProviderName
  /** Comes back in the answer (RFC 6749 section 10.12). */
  state: string
  /** Comes back in the id token (OpenID Connect Core 3.1.2.1). */
  nonce: string
  /** Proves that the answer belongs to this attempt (PKCE, RFC 7636). */
  verifier: string
}

/** An address as the provider says it; null if it says none. */
export type ClaimedAddress = { address: string | null; isVerified: boolean }

/** The user is named by issuer and subject; addresses change owners. */
export type ProviderUser = {
  issuer: string
  subject: string
  /** Asks the provider if it has not said the address yet. @throws LoginFailure */
  findAddress(): Promise<ClaimedAddress>
}

export type IdentityProvider = {
  name: ProviderName
  /** The name that people know. */
  label: string
  method: Exclude<AccountMethod, 'PASSWORD'>
  /** Whether new users get an account even if sign-ups are disabled. */
  allowsSignup: boolean
  /** Where the browser goes to log in. @throws LoginFailure */
  authorizationUrl(attempt: OauthAttempt): Promise<URL>
  /** Reads the query of the provider's answer, and redeems its code. @throws LoginFailure */
  identify(answer: URLSearchParams, attempt: OauthAttempt): Promise<ProviderUser>
}

/** Where the provider sends the browser; the provider knows it in this spelling. */
export function callbackUrl(baseUrl: string, name: ProviderName): URL {
  return new URL(`${baseUrl}/oauth/${name}/callback`)
}
