/**
 * How this server proves to a token endpoint who it is (RFC 6749 section 2.3.1): the secret as HTTP basic
 * authentication or in the form. A provider lists the ways that it knows; which of them it takes from
 * this client only it knows, so that the other way is tried after a refusal, and kept if it works.
 */
import { type ClientAuth, ClientSecretBasic, ClientSecretPost } from 'openid-client'

export type SecretAuth = {
  apply: ClientAuth
  /** Takes the other way from now on; false if the provider knows one only. */
  change(): boolean
}

const WAYS = { client_secret_basic: ClientSecretBasic, client_secret_post: ClientSecretPost }
type Way = keyof typeof WAYS

/** `supported`: the provider's `token_endpoint_auth_methods_supported`. */
export function createSecretAuth(
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
