/** Whether the secret is the one that the database was made with. */
import { ConfigError } from '../../config/problems.ts'
import { domains } from '../../store/schema/domains.ts'
import type { Base } from '../base.ts'

/** @throws ConfigError when the signing keys at rest do not open: a lost or another `secret` */
export async function checkSecret({
  store,
  keyring,
}: Pick<Base, 'store' | 'keyring'>): Promise<void> {
  const row = await store.read.select({ key: domains.rsaPrivateKey }).from(domains).limit(1).get()
  if (row === undefined) return
  try {
    keyring.unseal(row.key)
  } catch (error) {
    const problem = {
      key: 'secret',
      found: 'one that does not open the keys in the database',
      expected: 'the secret that the database was made with (restore it, or set secret_previous)',
      where: null,
    }
    throw new ConfigError([problem], { cause: error })
  }
}
