/**
 * Recovery codes, for users who have lost their authenticator. Each has 80 random bits, so a plain digest
 * protects it; the id of the user in the digest makes equal codes of two users unlike.
 */
import { hash, randomBytes } from 'node:crypto'

const COUNT = 10
const BYTES = 10
/** RFC 4648 base32 in lower case. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const BITS = 5
const GROUP = /.{4}(?=.)/g

/** Ten codes as `abcd-efgh-ijkl-mnop`. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => toBase32(randomBytes(BYTES)).replace(GROUP, '$&-'))
}

/** Spaces, hyphens and letter case do not count. */
export function digestRecoveryCode(userId: string, code: string): string {
  return hash('sha256', `${userId}:${code.replace(/[\s-]/g, '').toLowerCase()}`)
}

function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(new RegExp(`.{${BITS}}`, 'g')) ?? []
  return digits.map((digit) => ALPHABET[Number.parseInt(digit, 2)]).join('')
}
