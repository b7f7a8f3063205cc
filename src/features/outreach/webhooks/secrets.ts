/** Sealed signing secrets: a new one, its rotation, and those that sign at an instant. */
import type { KeyObject } from 'node:crypto'
import { DAY_MS } from '../../../base/clock.ts'
import type { Base } from '../../ground/base.ts'
import { makeSigningSecret, toSigningKey } from './signing.ts'

/** After a rotation the previous secret signs, too, for this time. */
const PREVIOUS_MS = DAY_MS

/** The columns of a row that has a secret. */
export type SealedSecrets = {
  secret: string
  previousSecret: string | null
  previousUntil: number | null
}

type Deps = Pick<Base, 'keyring'>

/** `secret`: to show once. */
export type MadeSecret = { secret: string; columns: SealedSecrets }

export function newSecret({ keyring }: Deps): MadeSecret {
  const secret = makeSigningSecret()
  const columns = { secret: keyring.seal(secret), previousSecret: null, previousUntil: null }
  return { secret, columns }
}

export function rotateSecret(deps: Deps, current: SealedSecrets, at: number): MadeSecret {
  const { secret, columns } = newSecret(deps)
  const previous = { previousSecret: current.secret, previousUntil: at + PREVIOUS_MS }
  return { secret, columns: { ...columns, ...previous } }
}

/** The secrets that sign, the current one first. @throws TypeError for an unknown `secret` */
export function openSecrets({ keyring }: Deps, row: SealedSecrets, at: number): string[] {
  const { secret, previousSecret, previousUntil } = row
  const isPreviousValid = previousSecret !== null && (previousUntil ?? 0) > at
  return [secret, ...(isPreviousValid ? [previousSecret] : [])].map(keyring.unseal)
}

/** The keys that sign. @throws TypeError for an unknown `secret` */
export function openSigningKeys(deps: Deps, row: SealedSecrets, at: number): KeyObject[] {
  return openSecrets(deps, row, at).map(toSigningKey)
}
