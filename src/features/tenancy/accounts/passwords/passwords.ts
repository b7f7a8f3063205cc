/**
 * Stores and checks passwords: argon2id with a salt for each, in the PHC string format, with the
 * parameters that OWASP recommends. The hash contains its parameters, so they can be raised without
 * invalidating stored passwords.
 */

import crypto, { randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { invalidField, tooLongText } from '../../../../base/errors.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../../../records/limits.ts'

type Cost = { memory: number; passes: number; parallelism: number }

const SALT_BYTES = 16
const HASH_BYTES = 32
const RANDOM_BYTES = 15
/**
 * The parameters of argon2id; `memory` is in KiB. OWASP rates them as equal to 19 MiB and 2 passes.
 * These would take twice as long here, because the system maps and clears blocks of that size anew
 * for each computation.
 */
const COST: Cost = { memory: 7_168, passes: 5, parallelism: 1 }
const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/**
 * The end of the last computation. The process makes one computation at a time, because it has one
 * pool of four threads, which argon2 shares with signing and files. So this is state of the module.
 */
let lastComputation: Promise<unknown> = Promise.resolve()

/** Makes a password of 20 typable characters with 120 random bits. */
export function makePassword(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url')
}

/** @throws AppError VALIDATION_ERROR: fewer than 6 characters, or more than 1,000 */
export function checkPassword(password: string): void {
  if (password.length < MIN_PASSWORD_LENGTH) {
    throw invalidField(
      'password',
      'too_small',
      `Must be at least ${MIN_PASSWORD_LENGTH} characters long`,
    )
  }
  if (password.length > MAX_PASSWORD_LENGTH) {
    throw invalidField('password', 'too_big', tooLongText(MAX_PASSWORD_LENGTH))
  }
}

/** Hashes a password. `signal`: as for `isPassword`. */
export async function hashPassword(password: string, signal?: AbortSignal): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await compute(password, { salt, cost: COST, length: HASH_BYTES, signal })
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(hash)}`
}

/**
 * Checks a password against its hash. Without a hash the computation takes place too, so that the
 * time of the answer does not show whether there is a hash. If `signal` aborts before the turn of
 * the check, the check computes nothing and rejects with the reason of the signal.
 * @throws TypeError when `stored` is not an argon2id hash
 */
export async function isPassword(
  password: string,
  stored: string | null,
  signal?: AbortSignal,
): Promise<boolean> {
  const { cost, salt, hash } = stored === null ? standIn() : parseHash(stored)
  const given = await compute(password, { salt, cost, length: hash.length, signal })
  return timingSafeEqual(given, hash) && stored !== null
}

/** Whether the hash has other parameters than new hashes. */
export function isOutdated(stored: string): boolean {
  const { cost } = parseHash(stored)
  return (
    cost.memory !== COST.memory ||
    cost.passes !== COST.passes ||
    cost.parallelism !== COST.parallelism
  )
}

type Hash = { cost: Cost; salt: Buffer; hash: Buffer }

function parseHash(stored: string): Hash {
  const [, memory, passes, parallelism, salt = '', hash = ''] = PHC.exec(stored) ?? []
  if (hash === '') throw new TypeError('not an argon2id hash')
  const cost = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  }
  return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') }
}

/** Makes a hash of random bytes for users without one. No known password has this hash. */
function standIn(): Hash {
  return { cost: COST, salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) }
}

type Computation = { salt: Buffer; cost: Cost; length: number; signal?: AbortSignal | undefined }

function compute(password: string, { salt, cost, length, signal }: Computation): Promise<Buffer> {
  // Cuts the text just beyond the longest valid password, because normalising some texts takes time
  // in proportion to the square of their length (`nfc.ts`).
  const message = password.slice(0, MAX_PASSWORD_LENGTH + 1).normalize('NFC')
  const computation = lastComputation.then(() => {
    signal?.throwIfAborted()
    return promisify(crypto.argon2)('argon2id', {
      message,
      nonce: salt,
      tagLength: length,
      ...cost,
    })
  })
  lastComputation = computation.catch(() => undefined)
  return computation
}

/** Encodes as base64 without padding, as in the PHC format. */
function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/={1,2}$/, '')
}
