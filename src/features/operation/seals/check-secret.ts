/** Checks that `secret` opens the sealed keys and secrets in the database. */
import { ConfigError } from '../../../config/problems.ts'
import { isNotNull } from '../../../store/drizzle.ts'
import type { Base } from '../../ground/base.ts'
import { listSealed } from './reseal.ts'

/** @throws ConfigError when a stored key does not open because `secret` is another one */
export async function checkSecret({
  store,
  keyring,
  duties,
}: Pick<Base, 'store' | 'keyring' | 'duties'>): Promise<void> {
  // Where most rows have no sealed text, the search for one reads them all.
  const searched = listSealed(duties.tables).filter(({ where }) => where === undefined)
  const rows = await Promise.all(
    searched.flatMap(({ table, columns }) =>
      Object.values(columns)
        .slice(0, 1)
        .map((key) => store.read.select({ key }).from(table).where(isNotNull(key)).limit(1).get()),
    ),
  )
  try {
    for (const row of rows) if (typeof row?.key === 'string') keyring.unseal(row.key)
  } catch (error) {
    const problem = {
      key: 'secret',
      found: 'a secret that does not open the keys in the database',
      expected:
        'the secret that the database was created with (restore it, or set secret_previous)',
      where: null,
    }
    throw new ConfigError([problem], { cause: error })
  }
}
