/**
 * The attempts of logins, in a cookie of the browser that began them: encrypted (RFC 7516, `dir`
 * with A256GCM), for one provider, for ten minutes, and for one answer. The cookie binds an answer
 * to the browser: an attacker cannot log a victim's browser in to the attacker's account.
 *
 * Each network of clients may begin a limited number of attempts in a minute.
 */
import { type KeyObject, timingSafeEqual } from 'node:crypto'
import { EncryptJWT, errors, jwtDecrypt } from 'jose'
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client'
import { z } from 'zod'
import { MINUTE_MS, type Now } from '../../../../base/clock.ts'
import type { Keyring } from '../../../../config/keyring.ts'
import { createWindowLimit } from '../../../../work/limiter.ts'
import { LoginFailure } from './login-failure.ts'
import type { OauthAttempt, ProviderName } from './provider.ts'

type LoginAttempts = {
  /** Begins an attempt, and returns it with the value of its cookie. */
  begin(provider: ProviderName): Promise<{ attempt: OauthAttempt; cookie: string }>
  /** Returns the attempt to which an answer of the provider belongs. @throws LoginFailure */
  take(provider: ProviderName, answer: ProviderAnswer): Promise<OauthAttempt>
}

/** `cookie`: the cookie that came with the answer. `states`: the values of `state` in its query. */
type ProviderAnswer = { cookie: string | undefined; states: readonly string[] }

export const ATTEMPT_MS = 10 * MINUTE_MS
/**
 * The most states that are remembered. The oldest ones are dropped first, which is safe: the
 * provider accepts the code of an attempt only once.
 */
const MAX_USED = 10_000
/** The most characters of a cookie; a longer text is not one of ours. */
const MAX_LENGTH = 1_000

const shape = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() })

export function createLoginAttempts({
  keyring,
  now,
}: {
  keyring: Keyring
  now: Now
}): LoginAttempts {
  const keys = keyring.keys('provider-logins')
  /** The states that were used, each with the instant at which its attempt expires. */
  const used = new Map<string, number>()

  function use(state: string): boolean {
    if (used.has(state)) return false
    for (const [old, endsAt] of used) {
      if (endsAt > now() && used.size < MAX_USED) break
      used.delete(old)
    }
    used.set(state, now() + ATTEMPT_MS)
    return true
  }

  async function open(provider: ProviderName, cookie: string): Promise<OauthAttempt> {
    if (cookie.length > MAX_LENGTH) throw foreign('the cookie is too long')
    for (const key of keys) {
      const attempt = await decrypt(key, { provider, cookie, now })
      if (attempt !== undefined) return attempt
    }
    throw foreign('the cookie is not one of this server')
  }

  return {
    async begin(provider) {
      const secrets = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      }
      const cookie = await new EncryptJWT(secrets)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setAudience(provider)
        .setExpirationTime(Math.floor((now() + ATTEMPT_MS) / 1000))
        .encrypt(keys[0])
      return { attempt: { provider, ...secrets }, cookie }
    },
    async take(provider, { cookie, states }) {
      if (cookie === undefined) throw foreign('no cookie')
      const attempt = await open(provider, cookie)
      const [state] = states
      if (state === undefined || states.length > 1 || !isEqual(state, attempt.state)) {
        throw foreign('another state')
      }
      if (!use(attempt.state)) throw foreign('a repeated answer')
      return attempt
    },
  }
}

/**
 * Returns a function that counts one attempt of a network.
 * @throws LoginFailure too_many_attempts
 */
export function createNetworkLimit(perMinute: number, now: Now): (network: string) => void {
  const limit = createWindowLimit({ limit: perMinute, windowMs: MINUTE_MS, now })
  return (network) => {
    const attempt = limit.begin(network)
    if (typeof attempt === 'number') {
      throw new LoginFailure('too_many_attempts', `more than ${perMinute} in a minute`)
    }
    attempt.counted()
  }
}

/** Undefined unless the key sealed the cookie for this provider. @throws LoginFailure expired */
async function decrypt(
  key: KeyObject,
  { provider, cookie, now }: { provider: ProviderName; cookie: string; now: Now },
): Promise<OauthAttempt | undefined> {
  try {
    const { payload } = await jwtDecrypt(cookie, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      audience: provider,
      requiredClaims: ['exp'],
      currentDate: new Date(now()),
    })
    return { provider, ...shape.parse(payload) }
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new LoginFailure('expired', 'an old cookie')
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

function isEqual(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}

function foreign(why: string): LoginFailure {
  return new LoginFailure('state_mismatch', why)
}
