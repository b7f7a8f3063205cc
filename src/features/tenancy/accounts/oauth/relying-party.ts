/**
 * Our side of the authorization code flow (RFC 6749 section 4.1) with PKCE, the same for all
 * providers. openid-client checks the answer and the tokens; id tokens must be signed by the
 * provider's keys.
 *
 * The token endpoint authenticates this server by the secret (RFC 6749 section 2.3.1), sent as HTTP
 * basic authentication or in the form. A provider lists the ways that it supports, but may accept
 * only one of them from this client. After a refusal the other way is tried, and kept if it works.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  enableNonRepudiationChecks,
  type ServerMetadata,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from 'openid-client'
import type { OAuthClient } from '../../../../config/config.ts'
import { LoginFailure } from './login-failure.ts'
import type { OauthAttempt } from './provider.ts'
import { isClientRefused } from './provider-error.ts'
import { isLocal } from './provider-fetch.ts'

export type RelyingParty = { config: Configuration; auth: SecretAuth; callback: URL }

export type ProviderTokens = TokenEndpointResponse & TokenEndpointResponseHelpers

type PartyDeps = { client: OAuthClient; fetch: CustomFetch; callback: URL }

type SecretAuth = {
  apply: ClientAuth
  /** Chooses the other way from now on; false if the provider supports only one. */
  change(): boolean
}

const WAYS = { client_secret_basic: ClientSecretBasic, client_secret_post: ClientSecretPost }

type Way = keyof typeof WAYS

export function createRelyingParty(
  { client, fetch, callback }: PartyDeps,
  server: ServerMetadata,
): RelyingParty {
  const supported = server.token_endpoint_auth_methods_supported
  const auth = createSecretAuth(client.clientSecret, supported)
  const config = new Configuration(server, client.clientId, client.clientSecret, auth.apply)
  config[customFetch] = fetch
  enableNonRepudiationChecks(config)
  if (isLocal(server.issuer)) allowInsecureRequests(config)
  return { config, auth, callback }
}

/**
 * Returns the URL at which the browser logs in.
 * @throws LoginFailure; any error of openid-client
 */
export async function authorizationUrlOf(
  { config, callback }: RelyingParty,
  attempt: OauthAttempt,
  parameters: Readonly<Record<string, string>>,
): Promise<URL> {
  const url = buildAuthorizationUrl(config, {
    redirect_uri: callback.href,
    state: attempt.state,
    code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
    ...parameters,
  })
  if (url.protocol === 'https:' || isLocal(url.href)) return url
  throw new LoginFailure('provider_error', 'the authorization endpoint has no https address')
}

/**
 * `nonce`: the nonce of the id token; undefined for a provider that gives no id token.
 * @throws LoginFailure state_mismatch for the answer of another provider (RFC 9207); any error of
 *   openid-client
 */
export async function redeemCode(
  party: RelyingParty,
  answer: URLSearchParams,
  { attempt, nonce }: { attempt: OauthAttempt; nonce: string | undefined },
): Promise<ProviderTokens> {
  const { config, auth, callback } = party
  const issuer = answer.get('iss')
  if (issuer !== null && issuer !== config.serverMetadata().issuer) {
    throw new LoginFailure('state_mismatch', 'the answer names another issuer')
  }
  const url = new URL(callback)
  url.search = answer.toString()
  const checks = {
    expectedState: attempt.state,
    pkceCodeVerifier: attempt.verifier,
    ...(nonce === undefined ? {} : { expectedNonce: nonce, idTokenExpected: true }),
  }
  try {
    return await authorizationCodeGrant(config, url, { ...checks })
  } catch (error) {
    if (!isClientRefused(error) || !auth.change()) throw error
    return authorizationCodeGrant(config, url, { ...checks })
  }
}

/**
 * Makes the authentication at the token endpoint. `supported`: the provider's
 * `token_endpoint_auth_methods_supported`.
 */
function createSecretAuth(
  clientSecret: string,
  supported: readonly string[] | undefined,
): SecretAuth {
  const ways = (Object.keys(WAYS) as Way[])
    .filter((way) => supported?.includes(way) ?? way === 'client_secret_basic')
    .map((way) => WAYS[way](clientSecret))
  let chosen = 0
  return {
    apply: (...request) => (ways[chosen] ?? ClientSecretPost(clientSecret))(...request),
    change: () => {
      if (ways.length < 2) return false
      chosen = (chosen + 1) % ways.length
      return true
    },
  }
}
