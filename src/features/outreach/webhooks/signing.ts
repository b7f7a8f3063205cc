/**
 * Signs webhooks as Standard Webhooks 1.0.0 prescribes, and makes, seals and opens the secrets.
 *
 * The headers are `webhook-id`, `webhook-timestamp` (seconds) and `webhook-signature`, which is the
 * HMAC-SHA256 of `<id>.<timestamp>.<body>` over the exact bytes of the body, one for each valid
 * secret.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { DAY_MS } from '../../../base/clock.ts'
import type { Base } from '../../ground/base.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

type SignedHeaders = Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>

/** How long after a rotation the previous secret signs, too. */
const PREVIOUS_MS = DAY_MS

/** The columns of a row that has a secret. */
export type SealedSecrets = {
  secret: string
  previousSecret: string | null
  previousUntil: number | null
}

type SecretDeps = Pick<Base, 'keyring'>

/** `secret`: the text, which is shown once. */
type MadeSecret = { secret: string; columns: SealedSecrets }

function makeSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** An HMAC with a key object costs a fifth of one with bytes. */
function toSigningKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'))
}

/** `keys`: the current one first. `at`: epoch ms. */
export function signWebhook(
  { id, at, body }: { id: string; at: number; body: string | Buffer },
  keys: readonly KeyObject[],
): SignedHeaders {
  const timestamp = String(Math.floor(at / 1_000))
  const signatures = keys.map((key) => {
    const hmac = createHmac('sha256', key)
    return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

export function newSecret({ keyring }: SecretDeps): MadeSecret {
  const secret = makeSigningSecret()
  const columns = { secret: keyring.seal(secret), previousSecret: null, previousUntil: null }
  return { secret, columns }
}

export function rotateSecret(deps: SecretDeps, current: SealedSecrets, at: number): MadeSecret {
  const { secret, columns } = newSecret(deps)
  const previous = { previousSecret: current.secret, previousUntil: at + PREVIOUS_MS }
  return { secret, columns: { ...columns, ...previous } }
}

/** The secrets that sign, the current one first. @throws TypeError for an unknown `secret` */
export function openSecrets({ keyring }: SecretDeps, row: SealedSecrets, at: number): string[] {
  const { secret, previousSecret, previousUntil } = row
  const isPreviousValid = previousSecret !== null && (previousUntil ?? 0) > at
  return [secret, ...(isPreviousValid ? [previousSecret] : [])].map(keyring.unseal)
}

/** The keys that sign. @throws TypeError for an unknown `secret` */
export function openSigningKeys(deps: SecretDeps, row: SealedSecrets, at: number): KeyObject[] {
  return openSecrets(deps, row, at).map(toSigningKey)
}
