/**
 * Moves the wishes of before, which the migration collected by address, to their digests. The program
 * accepts nothing until all are moved, so none is missed. Each batch is one transaction; after a crash
 * the next start moves what is left.
 */
import { addressDigest } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { overwriting } from '../../../store/overwrite.sqlite.ts'
import { statement } from '../../../store/statement.ts'
import { type Pace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'

/** Rows of a transaction; a digest takes about 2 us. */
const BATCH = 2_000
const PACE: Pace = { rows: BATCH, rest: 'none' }

const batch = sql`select project_id, email from unkeyed_wishes
  order by project_id, email limit ${BATCH}`

export const hasOlderWishes = statement<{ found: number }>(
  () => sql`select 1 as found from unkeyed_wishes limit 1`,
)

export const keyBatch = statement(
  () => sql`insert into wishes (digest, project_id, kind, at)
    select ${addressDigest(sql`project_id`, sql`email`)}, project_id, kind, at from unkeyed_wishes
    where (project_id, email) in (${batch})
    on conflict (digest) do nothing`,
)

export const deleteBatch = statement(
  () => sql`delete from unkeyed_wishes where (project_id, email) in (${batch})`,
)

/** Returns the number of moved wishes. */
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
