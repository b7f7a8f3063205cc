/**
 * The key of address digests: 32 random octets, sealed in the database. The first process that opens a
 * database makes the key. Nothing replaces it, because digests cannot be made again without addresses.
 */
import { randomBytes } from 'node:crypto'
import { eq } from '../../../store/drizzle.ts'
import { instanceKeys } from '../../../store/schema/wishes.ts'
import { statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'

const NAME = 'addresses'
const KEY_OCTETS = 32

const findKey = statement((db) =>
  db.select({ sealed: instanceKeys.sealed }).from(instanceKeys).where(eq(instanceKeys.name, NAME)),
)

/** Gives the keyring the key. */
export async function loadAddressKey({
  store,
  keyring,
  now,
}: Pick<Base, 'store' | 'keyring' | 'now'>): Promise<void> {
  const known = await store.read.find(findKey)
  const sealed = known?.sealed ?? (await makeKey({ store, keyring, now }))
  keyring.useAddressKey(Buffer.from(keyring.unseal(sealed), 'base64'))
}

/** Another process may make the key at the same time; the first row stays. */
async function makeKey({
  store,
  keyring,
  now,
}: Pick<Base, 'store' | 'keyring' | 'now'>): Promise<string> {
  const sealed = keyring.seal(randomBytes(KEY_OCTETS).toString('base64'))
  return store.write(async (tx) => {
    const key = { name: NAME, sealed, createdAt: now() }
    await tx.insert(instanceKeys).values(key).onConflictDoNothing()
    return (await tx.find(findKey))?.sealed ?? sealed
  })
}
