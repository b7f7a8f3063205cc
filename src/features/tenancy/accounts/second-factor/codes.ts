/**
 * Checks the codes of a user's second factor: of the authenticator app, or a recovery code. A code
 * is accepted once: after it, codes of its time step and of earlier ones are refused, and a
 * recovery code is deleted.
 *
 * Recovery codes are for users who have lost their authenticator. Each has 80 random bits, so a plain digest
 * protects it. The digest includes the id of the user, so equal codes of two users have two digests.
 */
import { hash, randomBytes } from 'node:crypto'
import { and, eq, isNotNull, lt } from '../../../../store/drizzle.ts'
import { recoveryCodes, type User, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { findTotpStep, isTotpCode } from './totp.ts'

/**
 * A code whose form is right, before the database has checked it. `step`: the time step of the
 * code.
 */
export type CodeProof =
  | { kind: 'totp'; sealedSecret: string; step: number }
  | { kind: 'recovery'; digest: string }

type SecondFactor = Pick<User, 'id' | 'totpSecret' | 'totpConfirmedAt'>

const COUNT = 10
const BYTES = 10
/** The alphabet of recovery codes: base32 of RFC 4648 in lower case. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const BITS = 5
const GROUP = /.{4}(?=.)/g

export function hasSecondFactor({ totpSecret, totpConfirmedAt }: SecondFactor): boolean {
  return totpSecret !== null && totpConfirmedAt !== null
}

/** Reads a code; undefined if it is certainly wrong. `useCode` decides about all other codes. */
export function readCode(
  { keyring, now }: Pick<Base, 'keyring' | 'now'>,
  { id, totpSecret }: SecondFactor,
  code: string,
): CodeProof | undefined {
  const digits = code.replace(/\s/g, '')
  if (!isTotpCode(digits)) return { kind: 'recovery', digest: digestRecoveryCode(id, code) }
  if (totpSecret === null) return undefined
  const step = findTotpStep(keyring.unseal(totpSecret), digits, now())
  return step === undefined ? undefined : { kind: 'totp', sealedSecret: totpSecret, step }
}

/**
 * Uses the code up; false if the code is wrong or was used before. If equal codes come at the same
 * time, one is accepted.
 */
export async function useCode(tx: Tx, userId: string, proof: CodeProof): Promise<boolean> {
  if (proof.kind === 'recovery') {
    const isGiven = and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.digest, proof.digest))
    const used = await tx
      .delete(recoveryCodes)
      .where(isGiven)
      .returning({ id: recoveryCodes.userId })
    return used.length > 0
  }
  const isFresh = and(
    eq(users.id, userId),
    eq(users.totpSecret, proof.sealedSecret),
    isNotNull(users.totpConfirmedAt),
    lt(users.totpStep, proof.step),
  )
  const used = await tx
    .update(users)
    .set({ totpStep: proof.step })
    .where(isFresh)
    .returning({ id: users.id })
  return used.length > 0
}

/** Makes ten recovery codes of the form `abcd-efgh-ijkl-mnop`. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => toBase32(randomBytes(BYTES)).replace(GROUP, '$&-'))
}

/** Returns the digest of a recovery code. Spaces, hyphens and letter case do not count. */
export function digestRecoveryCode(userId: string, code: string): string {
  return hash('sha256', `${userId}:${code.replace(/[\s-]/g, '').toLowerCase()}`)
}

function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(new RegExp(`.{${BITS}}`, 'g')) ?? []
  return digits.map((digit) => ALPHABET[Number.parseInt(digit, 2)]).join('')
}
