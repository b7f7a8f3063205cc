/**
 * A provider that speaks OpenID Connect. Its endpoints and keys are discovered (OpenID Connect Discovery
 * 1.0) at the first login and not at the start, so that a provider that is down does not keep the
 * server from starting.
 */
import {
  allowInsecureRequests,
  type CustomFetch,
  customFetch,
  discovery,
  fetchUserInfo,
} from 'openid-client'
import { DAY_MS, HOUR_MS, type Now, SECOND_MS } from '../../../../base/clock.ts'
import type { OAuthClient } from '../../../../config/config.ts'
import { LoginFailure } from './login-failure.ts'
import type { ClaimedAddress, IdentityProvider, ProviderUser } from './provider.ts'
import { withProvider } from './provider-error.ts'
import { isLocal } from './provider-fetch.ts'
import {
  authorizationUrlOf,
  createRelyingParty,
  type ProviderTokens,
  type RelyingParty,
  redeemCode,
} from './relying-party.ts'

type OpenidOptions = Pick<IdentityProvider, 'name' | 'label' | 'method' | 'allowsSignup'> & {
  issuer: string
  client: OAuthClient
  /** Whether an address counts even if the provider does not call it verified. */
  trustsAddresses: boolean
  callback: URL
}

const SCOPE = 'openid email'
/** The endpoints of the provider that a login needs. */
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
/** The most characters of a subject (OpenID Connect Core, section 2). */
const MAX_SUBJECT = 255

const FRESH_MS = HOUR_MS
const USABLE_MS = DAY_MS
const RETRY_AFTER_MS = 5 * SECOND_MS

type KeptDiscovery<T> = { value: T; at: number }

type Failure = { error: unknown; at: number }

export function createOpenidProvider(
  { issuer, client, trustsAddresses, callback, ...known }: OpenidOptions,
  { fetch, now }: { fetch: CustomFetch; now: Now },
): IdentityProvider {
  const findParty = createDiscovery(async () => {
    const found = await discovery(new URL(issuer), client.clientId, undefined, undefined, {
      [customFetch]: fetch,
      execute: isLocal(issuer) ? [allowInsecureRequests] : [],
    })
    const server = found.serverMetadata()
    for (const endpoint of ENDPOINTS) checkEndpoint(endpoint, server[endpoint])
    return createRelyingParty({ client, fetch, callback }, server)
  }, now)

  return {
    ...known,
    authorizationUrl: (attempt) =>
      withProvider(async () =>
        authorizationUrlOf(await findParty(), attempt, { scope: SCOPE, nonce: attempt.nonce }),
      ),
    identify: (answer, attempt) =>
      withProvider(async () => {
        const party = await findParty()
        const tokens = await redeemCode(party, answer, { attempt, nonce: attempt.nonce })
        return toUser(party, tokens, trustsAddresses)
      }),
  }
}

/**
 * Returns a function that gives the discovered state. The state is read again after an hour; while
 * the provider does not answer, the old state serves for one more day. After a failure the next
 * request waits for some seconds. Concurrent callers share one request.
 * @throws what `load` throws, while there is no state
 */
export function createDiscovery<T>(load: () => Promise<T>, now: Now): () => Promise<T> {
  let known: KeptDiscovery<T> | undefined
  let failure: Failure | undefined
  let pending: Promise<T> | undefined

  const isYounger = (since: { at: number } | undefined, ageMs: number): boolean =>
    since !== undefined && Math.abs(now() - since.at) < ageMs

  async function reload(): Promise<T> {
    try {
      const value = await load()
      known = { value, at: now() }
      failure = undefined
      return value
    } catch (error) {
      failure = { error, at: now() }
      return fallBack(error)
    } finally {
      pending = undefined
    }
  }

  function fallBack(error: unknown): T {
    if (known !== undefined && isYounger(known, USABLE_MS)) return known.value
    throw error
  }

  return async () => {
    if (known !== undefined && isYounger(known, FRESH_MS)) return known.value
    if (failure !== undefined && isYounger(failure, RETRY_AFTER_MS)) return fallBack(failure.error)
    pending ??= reload()
    return pending
  }
}

/** Refuses endpoints that cannot be used, because the discovered state is kept for an hour. */
function checkEndpoint(name: string, url: unknown): void {
  if (typeof url !== 'string' || !URL.canParse(url)) {
    throw new LoginFailure('provider_error', `the discovered ${name} is no URL`)
  }
  const { host, protocol } = new URL(url)
  if (protocol === 'https:' || isLocal(url)) return
  throw new LoginFailure('provider_error', `the discovered ${name} is unsafe: ${host}: no https`)
}

function toUser(
  party: RelyingParty,
  tokens: ProviderTokens,
  trustsAddresses: boolean,
): ProviderUser {
  const claims = tokens.claims()
  if (claims === undefined || claims.sub === '' || claims.sub.length > MAX_SUBJECT) {
    throw new LoginFailure('provider_error', 'the id token names no subject')
  }
  const { iss: issuer, sub: subject } = claims
  const trusted = (source: object): ClaimedAddress => {
    const { address, isVerified } = addressOf(source)
    return { address, isVerified: address !== null && (isVerified || trustsAddresses) }
  }
  const findAddress = () =>
    withProvider(async () => {
      const inToken = trusted(claims)
      if (inToken.isVerified || !hasUserInfo(party)) return inToken
      // The address and its verification must come from one source: a mixture would say what
      // neither source says.
      const found = trusted(await fetchUserInfo(party.config, tokens.access_token, subject))
      return found.address === null ? inToken : found
    })
  return { issuer, subject, findAddress }
}

function hasUserInfo({ config }: RelyingParty): boolean {
  return config.serverMetadata().userinfo_endpoint !== undefined
}

/** Reads the address and whether it is verified; some providers write the boolean as a text. */
function addressOf(source: object): ClaimedAddress {
  const address: unknown = Reflect.get(source, 'email')
  const isVerified: unknown = Reflect.get(source, 'email_verified')
  return {
    address: typeof address === 'string' ? address : null,
    isVerified: isVerified === true || isVerified === 'true',
  }
}
