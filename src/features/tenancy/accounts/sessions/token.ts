/**
 * The tokens in cookies: JSON Web Tokens (RFC 7519), HS256 only, each signed with the key of its
 * purpose. The token of a session names a row of `sessions`, which says whether the session goes
 * on. The token of a device says that a user has logged in, or chosen a password, in this browser
 * before (`login/device.ts`).
 */
import type { KeyObject } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { Now } from '../../../../base/clock.ts'
import { createLru } from '../../../../base/lru.ts'
import type { Keyring } from '../../../../config/keyring.ts'

type Audience = 'session' | 'device'

export type SessionTokens = {
  /** Signs a token. `id`: the id of the session or the device. `expiresAt`: epoch milliseconds. */
  sign(audience: Audience, token: { id: string; expiresAt: number }): Promise<string>
  /** Returns the id in a valid token; undefined for any other text. */
  read(audience: Audience, token: string): Promise<string | undefined>
}

type KnownToken = { id: string; expiresAt: number }

const ISSUER = 'pillarbox'
const ALGORITHM = 'HS256'
/** The most characters of a token; a longer text is not one of ours. */
const MAX_LENGTH = 1_000
const MAX_KNOWN = 10_000

export function createSessionTokens({
  keyring,
  now,
}: {
  keyring: Keyring
  now: Now
}): SessionTokens {
  const keys = keyring.keys('sessions')
  /**
   * The tokens that were verified. A signature stays valid, and verifying it takes longer than
   * everything else that a request does.
   */
  const known = createLru<KnownToken>(MAX_KNOWN)

  async function verify(audience: Audience, token: string): Promise<KnownToken | undefined> {
    for (const key of keys) {
      const found = await verifyWith(key, { audience, token, now })
      if (found !== undefined) return found
    }
    return undefined
  }

  return {
    sign: (audience, { id, expiresAt }) =>
      new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM })
        .setIssuer(ISSUER)
        .setAudience(audience)
        .setSubject(id)
        .setIssuedAt(Math.floor(now() / 1000))
        .setExpirationTime(Math.floor(expiresAt / 1000))
        .sign(keys[0]),
    async read(audience, token) {
      if (token.length > MAX_LENGTH) return undefined
      const name = `${audience} ${token}`
      const found = known.get(name) ?? (await verify(audience, token))
      if (found === undefined || found.expiresAt <= now()) return undefined
      known.set(name, found)
      return found.id
    },
  }
}

async function verifyWith(
  key: KeyObject,
  { audience, token, now }: { audience: Audience; token: string; now: Now },
): Promise<KnownToken | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience,
      currentDate: new Date(now()),
      requiredClaims: ['sub', 'exp', 'iat'],
    })
    const { sub, exp } = payload
    if (typeof sub !== 'string' || exp === undefined) return undefined
    return { id: sub, expiresAt: exp * 1000 }
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
