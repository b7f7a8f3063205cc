/**
 * GitHub: OAuth 2.0 without OpenID Connect. The user and the addresses come from its API; only the primary
 * address counts, if GitHub calls it verified.
 */
import { type CustomFetch, fetchProtectedResource } from 'openid-client'
import { z } from 'zod'
import type { OAuthClient } from '../../../../config/config.ts'
import { LoginFailure } from './login-failure.ts'
import type { ClaimedAddress, IdentityProvider } from './provider.ts'
import { withProvider } from './provider-error.ts'
import {
  authorizationUrlOf,
  createRelyingParty,
  type RelyingParty,
  redeemCode,
} from './relying-party.ts'

/** `issuer`: the value of `iss` in answers (RFC 9207). */
export type GithubEndpoints = {
  issuer: string
  authorize: string
  token: string
  user: string
  emails: string
}

export const GITHUB: GithubEndpoints = {
  issuer: 'https://github.com/login/oauth',
  authorize: 'https://github.com/login/oauth/authorize',
  token: 'https://github.com/login/oauth/access_token',
  user: 'https://api.github.com/user',
  emails: 'https://api.github.com/user/emails?per_page=100',
}

const SCOPE = 'user:email'

const userShape = z.object({ id: z.int().positive() })
const emailsShape = z.array(
  z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }),
)

export function createGithubProvider(
  endpoints: GithubEndpoints,
  { client, fetch, callback }: { client: OAuthClient; fetch: CustomFetch; callback: URL },
): IdentityProvider {
  const { issuer } = endpoints
  const party = createRelyingParty(
    { client, fetch, callback },
    {
      issuer,
      authorization_endpoint: endpoints.authorize,
      token_endpoint: endpoints.token,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
  )
  return {
    ...{ name: 'github', label: 'GitHub', method: 'GITHUB', allowsSignup: false },
    authorizationUrl: (attempt) =>
      withProvider(() => authorizationUrlOf(party, attempt, { scope: SCOPE })),
    identify: (answer, attempt) =>
      withProvider(async () => {
        const tokens = await redeemCode(party, answer, { attempt, nonce: undefined })
        const { access_token: token } = tokens
        const { id } = await read(party, token, { url: endpoints.user, shape: userShape })
        const findAddress = () =>
          withProvider(() => findPrimaryAddress(party, token, endpoints.emails))
        return { issuer, subject: String(id), findAddress }
      }),
  }
}

async function findPrimaryAddress(
  party: RelyingParty,
  token: string,
  url: string,
): Promise<ClaimedAddress> {
  const all = await read(party, token, { url, shape: emailsShape })
  const primary = all.find((one) => one.primary)
  return { address: primary?.email ?? null, isVerified: primary?.verified ?? false }
}

async function read<T>(
  { config }: RelyingParty,
  token: string,
  { url, shape }: { url: string; shape: z.ZodType<T> },
): Promise<T> {
  const headers = new Headers({ accept: 'application/vnd.github+json' })
  const target = new URL(url)
  const response = await fetchProtectedResource(config, token, target, 'GET', null, headers)
  if (response.status !== 200) {
    throw new LoginFailure('provider_error', `${target.pathname}: status ${response.status}`)
  }
  const text = await response.text()
  const parsed = shape.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new LoginFailure('provider_error', `${target.pathname}: unexpected content`)
}

/** Undefined for a text that is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
