/** The secret that signs the webhooks of a project's workflows. It is made when it is first needed. */
import type { KeyObject } from 'node:crypto'
import { formatOptionalInstant } from '../../../base/clock.ts'
import type { SigningSecretRecord } from '../../../records/webhook-endpoint.ts'
import { eq } from '../../../store/drizzle.ts'
import { webhookSigningSecrets } from '../../../store/schema/webhooks.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import {
  newSecret,
  openSecrets,
  openSigningKeys,
  rotateSecret,
  type SealedSecrets,
} from './signing.ts'

type Deps = Pick<Base, 'store' | 'keyring' | 'now'>

export async function readSigningSecret(
  deps: Deps,
  projectId: string,
): Promise<SigningSecretRecord> {
  const at = deps.now()
  const row = await ensureSecrets(deps, projectId)
  const [secret = '', previous] = openSecrets(deps, row, at)
  const until = previous === undefined ? null : row.previousUntil
  return { secret, previousSecretUntil: formatOptionalInstant(until) }
}

/** Replaces the secret. For a day both secrets sign. */
export async function rotateSigningSecret(
  deps: Deps,
  projectId: string,
): Promise<SigningSecretRecord> {
  const { store, now } = deps
  const at = now()
  return store.write(async (tx) => {
    const current = (await findSecrets(tx, projectId)) ?? (await insertSecrets(deps, tx, projectId))
    const { secret, columns } = rotateSecret(deps, current, at)
    await tx
      .update(webhookSigningSecrets)
      .set({ ...columns, updatedAt: at })
      .where(eq(webhookSigningSecrets.projectId, projectId))
    return { secret, previousSecretUntil: formatOptionalInstant(columns.previousUntil) }
  })
}

/** Returns the keys that sign now, the current one first. */
export async function loadSigningKeys(deps: Deps, projectId: string): Promise<KeyObject[]> {
  return openSigningKeys(deps, await ensureSecrets(deps, projectId), deps.now())
}

async function ensureSecrets(deps: Deps, projectId: string): Promise<SealedSecrets> {
  const { store } = deps
  const known = await findSecrets(store.read, projectId)
  if (known !== undefined) return known
  return store.write(
    async (tx) => (await findSecrets(tx, projectId)) ?? insertSecrets(deps, tx, projectId),
  )
}

function findSecrets(
  queries: Pick<Tx, 'select'>,
  projectId: string,
): Promise<(SealedSecrets & { projectId: string }) | undefined> {
  return queries
    .select()
    .from(webhookSigningSecrets)
    .where(eq(webhookSigningSecrets.projectId, projectId))
    .get()
}

async function insertSecrets(
  deps: Pick<Deps, 'keyring' | 'now'>,
  tx: Tx,
  projectId: string,
): Promise<SealedSecrets> {
  const { columns } = newSecret(deps)
  const at = deps.now()
  await tx.insert(webhookSigningSecrets).values({
    ...{ projectId, ...columns, createdAt: at, updatedAt: at },
  })
  return columns
}
