/**
 * A project's two keys: a prefix and 256 random bits in hexadecimal. The public one is stored as it
 * is, of the secret one a digest and its last four characters.
 */
import { randomBytes } from 'node:crypto'
import { digestSecret } from '../directory.ts'

export type ProjectKeys = {
  publicKey: string
  /** Shown once, never stored. */
  secretKey: string
}

export type StoredKeys = { publicKey: string; secretDigest: string; secretHint: string }

const KEY_BYTES = 32
const HINT_LENGTH = 4

export const secretKeyPattern = /^sk_[0-9a-f]{64}$/
export const publicKeyPattern = /^pk_[0-9a-f]{64}$/

export function makeKeys(): ProjectKeys {
  const random = () => randomBytes(KEY_BYTES).toString('hex')
  return { publicKey: `pk_${random()}`, secretKey: `sk_${random()}` }
}

export function toStoredKeys({ publicKey, secretKey }: ProjectKeys): StoredKeys {
  const secretHint = secretKey.slice(-HINT_LENGTH)
  return { publicKey, secretDigest: digestSecret(secretKey), secretHint }
}

/** What is shown of a secret key after its making. */
export function maskSecret(secretHint: string): string {
  return `sk_…${secretHint}`
}
