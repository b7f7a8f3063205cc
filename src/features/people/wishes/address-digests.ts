/**
 * The key of address digests, and the digests of older wishes.
 *
 * The key has 32 random octets and is sealed in the database. The first process that opens a
 * database makes the key. It is never replaced, because digests cannot be made again without
 * addresses.
 */
import { randomBytes } from 'node:crypto'
import { addressDigest } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { overwriting } from '../../../store/overwrite.sqlite.ts'
import { instanceKeys } from '../../../store/schema/wishes.ts'
import { statement } from '../../../store/statement.ts'
import { type SweepPace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'

const KEY_NAME = 'addresses'
const KEY_OCTETS = 32

const findKey = statement((db) =>
  db
    .select({ sealed: instanceKeys.sealed })
    .from(instanceKeys)
    .where(eq(instanceKeys.name, KEY_NAME)),
)

/** The number of rows in a transaction; a digest takes about 2 us. */
const BATCH = 2_000
const PACE: SweepPace = { rows: BATCH, rest: 'none' }

const batch = sql`select project_id, email from unkeyed_wishes
  order by project_id, email limit ${BATCH}`

const hasOlderWishes = statement<{ found: number }>(
  () => sql`select 1 as found from unkeyed_wishes limit 1`,
)

export const keyBatch = statement(
  () => sql`insert into wishes (digest, project_id, kind, at)
    select ${addressDigest(sql`project_id`, sql`email`)}, project_id, kind, at from unkeyed_wishes
    where (project_id, email) in (${batch})
    on conflict (digest) do nothing`,
)

const deleteBatch = statement(
  () => sql`delete from unkeyed_wishes where (project_id, email) in (${batch})`,
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

/**
 * Moves older wishes, which the migration collected by address, to their digests. The program
 * accepts no request until all are moved, so none is missed. Each batch is one transaction; after a
 * crash the next start moves the rest. Returns the number of moved wishes.
 */
export async function keyOlderWishes(deps: Pick<Base, 'store'>): Promise<number> {
  const until = async () => (await deps.store.read.find(hasOlderWishes)) === undefined
  return sweep(deps, { pace: PACE, heavyFor: undefined, until }, async (tx) => {
    await tx.execute(keyBatch)
    let deleted = 0
    await overwriting(tx, async () => {
      deleted = await tx.execute(deleteBatch)
    })
    return deleted
  })
}

/** Another process may make the key at the same time; the first row stays. */
async function makeKey({
  store,
  keyring,
  now,
}: Pick<Base, 'store' | 'keyring' | 'now'>): Promise<string> {
  const sealed = keyring.seal(randomBytes(KEY_OCTETS).toString('base64'))
  return store.write(async (tx) => {
    const key = { name: KEY_NAME, sealed, createdAt: now() }
    await tx.insert(instanceKeys).values(key).onConflictDoNothing()
    return (await tx.find(findKey))?.sealed ?? sealed
  })
}
