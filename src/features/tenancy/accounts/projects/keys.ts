/**
 * The two keys of a project: a prefix and 256 random bits in hexadecimal. The public key is stored in
 * full, the secret key as a digest and its last four characters.
 */
import { randomBytes } from 'node:crypto'
import { digestSecret } from '../../../ground/directory.ts'

export type ProjectKeys = {
  publicKey: string
  /** The secret key, which is shown once and never stored. */
  secretKey: string
}

type StoredKeys = { publicKey: string; secretDigest: string; secretHint: string }

const KEY_BYTES = 32
const HINT_LENGTH = 4

export const SECRET_KEY_PATTERN = /^sk_[0-9a-f]{64}$/
export const PUBLIC_KEY_PATTERN = /^pk_[0-9a-f]{64}$/

export function makeKeys(): ProjectKeys {
  const random = () => randomBytes(KEY_BYTES).toString('hex')
  return { publicKey: `pk_${random()}`, secretKey: `sk_${random()}` }
}

export function toStoredKeys({ publicKey, secretKey }: ProjectKeys): StoredKeys {
  const secretHint = secretKey.slice(-HINT_LENGTH)
  return { publicKey, secretDigest: digestSecret(secretKey), secretHint }
}

/** The form in which a secret key is shown after its creation. */
export function maskSecret(secretHint: string): string {
  return `sk_…${secretHint}`
}
