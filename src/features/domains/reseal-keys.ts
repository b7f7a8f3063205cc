/**
 * Seals signing keys again after a change of `secret`: keys that the previous secret sealed could not be
 * opened once `secret_previous` is removed.
 */
import { and, asc, eq, gt } from '../../store/drizzle.ts'
import { type Domain, domains } from '../../store/schema/domains.ts'
import type { Base } from '../base.ts'

type SealedKeys = Pick<Domain, 'id' | 'rsaPrivateKey' | 'ed25519PrivateKey'>

const PAGE = 500

/** Returns the number of changed domains. @throws TypeError when neither secret opens a key */
export async function resealDomainKeys(deps: Pick<Base, 'store' | 'keyring'>): Promise<number> {
  let resealed = 0
  let page = await listAfter(deps, '')
  while (page.length > 0) {
    for (const row of page) if (await resealOne(deps, row)) resealed += 1
    page = await listAfter(deps, page.at(-1)?.id ?? '')
  }
  return resealed
}

function listAfter({ store }: Pick<Base, 'store'>, id: string): Promise<SealedKeys[]> {
  return store.scan
    .select({
      id: domains.id,
      rsaPrivateKey: domains.rsaPrivateKey,
      ed25519PrivateKey: domains.ed25519PrivateKey,
    })
    .from(domains)
    .where(gt(domains.id, id))
    .orderBy(asc(domains.id))
    .limit(PAGE)
    .all()
}

async function resealOne(
  { store, keyring }: Pick<Base, 'store' | 'keyring'>,
  row: SealedKeys,
): Promise<boolean> {
  const rsaPrivateKey = keyring.reseal(row.rsaPrivateKey)
  const ed25519PrivateKey = keyring.reseal(row.ed25519PrivateKey)
  if (rsaPrivateKey === row.rsaPrivateKey && ed25519PrivateKey === row.ed25519PrivateKey) {
    return false
  }
  const isUnchanged = and(eq(domains.id, row.id), eq(domains.rsaPrivateKey, row.rsaPrivateKey))
  await store.write((tx) =>
    tx.update(domains).set({ rsaPrivateKey, ed25519PrivateKey }).where(isUnchanged),
  )
  return true
}
