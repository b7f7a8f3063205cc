/** Seals the secrets of webhooks again after a change of `secret` (`domains/reseal-keys.ts`). */
import { and, asc, eq, gt } from '../../store/drizzle.ts'
import { webhookEndpoints, webhookSigningSecrets } from '../../store/schema/webhooks.ts'
import type { Base } from '../base.ts'
import type { SealedSecrets } from './secrets.ts'

type Deps = Pick<Base, 'store' | 'keyring'>
type SealedRow = Pick<SealedSecrets, 'secret' | 'previousSecret'> & { key: string }

const PAGE = 500

/** Returns the number of changed rows. @throws TypeError when neither secret opens one */
export async function resealWebhookSecrets(deps: Deps): Promise<number> {
  const ofEndpoints = await resealAll(deps, webhookEndpoints, webhookEndpoints.id)
  return (
    ofEndpoints + (await resealAll(deps, webhookSigningSecrets, webhookSigningSecrets.projectId))
  )
}

type Table = typeof webhookEndpoints | typeof webhookSigningSecrets
type Key = typeof webhookEndpoints.id | typeof webhookSigningSecrets.projectId

async function resealAll(deps: Deps, table: Table, key: Key): Promise<number> {
  const { store, keyring } = deps
  let resealed = 0
  let after = ''
  for (;;) {
    const page: SealedRow[] = await store.scan
      .select({ key, secret: table.secret, previousSecret: table.previousSecret })
      .from(table)
      .where(gt(key, after))
      .orderBy(asc(key))
      .limit(PAGE)
      .all()
    for (const row of page) {
      const secret = keyring.reseal(row.secret)
      const previousSecret = row.previousSecret === null ? null : keyring.reseal(row.previousSecret)
      if (secret === row.secret && previousSecret === row.previousSecret) continue
      const isUnchanged = and(eq(key, row.key), eq(table.secret, row.secret))
      await store.write((tx) => tx.update(table).set({ secret, previousSecret }).where(isUnchanged))
      resealed += 1
    }
    if (page.length < PAGE) return resealed
    after = page.at(-1)?.key ?? ''
  }
}
