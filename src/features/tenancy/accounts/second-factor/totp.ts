/**
 * Time-based one-time passwords (RFC 6238): SHA-1, six digits, 30 seconds, which every authenticator app
 * understands.
 */
import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { SECOND_MS } from '../../../../base/clock.ts'

const ALGORITHM = 'SHA1'
const DIGITS = 6
const PERIOD_SECONDS = 30
/** The length of the secret: as long as the hash, as RFC 4226 recommends. */
const SECRET_BYTES = 20
/** How many time steps a code may be early or late, because clocks differ. */
const TOLERANCE_STEPS = 1

const CODE = /^[0-9]{6}$/

export function isTotpCode(text: string): boolean {
  return CODE.test(text)
}

/** Makes a secret in base32. */
export function makeTotpSecret(): string {
  return new Secret({ buffer: Uint8Array.from(randomBytes(SECRET_BYTES)).buffer }).base32
}

/**
 * Makes the `otpauth:` URI that apps read from a QR code. `host`: by it users tell several servers
 * apart.
 */
export function totpUri(secret: string, { host, address }: { host: string; address: string }) {
  return totpOf(secret, { issuer: `Pillarbox (${host})`, label: address }).toString()
}

/** Returns the time step of a valid code; undefined for any other text. `at`: epoch ms. */
export function findTotpStep(secret: string, code: string, at: number): number | undefined {
  // The library throws if the text is no code.
  if (!isTotpCode(code)) return undefined
  const delta = totpOf(secret).validate({ token: code, timestamp: at, window: TOLERANCE_STEPS })
  return delta === null ? undefined : Math.floor(at / (PERIOD_SECONDS * SECOND_MS)) + delta
}

function totpOf(secret: string, names: { issuer?: string; label?: string } = {}): TOTP {
  const shape = { algorithm: ALGORITHM, digits: DIGITS, period: PERIOD_SECONDS }
  return new TOTP({ ...names, ...shape, secret: Secret.fromBase32(secret) })
}
