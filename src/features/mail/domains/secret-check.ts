/** Checks that `secret` opens the sealed keys and secrets in the database. */
import { ConfigError } from '../../../config/problems.ts'
import { isNotNull } from '../../../store/drizzle.ts'
import { users } from '../../../store/schema/accounts.ts'
import { domains } from '../../../store/schema/domains.ts'
import { webhookEndpoints, webhookSigningSecrets } from '../../../store/schema/webhooks.ts'
import { instanceKeys } from '../../../store/schema/wishes.ts'
import type { Base } from '../../ground/base.ts'

/** @throws ConfigError when a stored key does not open because `secret` is another one */
export async function checkSecret({
  store,
  keyring,
}: Pick<Base, 'store' | 'keyring'>): Promise<void> {
  const { read } = store
  const rows = await Promise.all([
    read.select({ key: domains.rsaPrivateKey }).from(domains).limit(1).get(),
    read.select({ key: webhookEndpoints.secret }).from(webhookEndpoints).limit(1).get(),
    read.select({ key: webhookSigningSecrets.secret }).from(webhookSigningSecrets).limit(1).get(),
    read
      .select({ key: users.totpSecret })
      .from(users)
      .where(isNotNull(users.totpSecret))
      .limit(1)
      .get(),
    read.select({ key: instanceKeys.sealed }).from(instanceKeys).limit(1).get(),
  ])
  try {
    for (const row of rows) if (row?.key) keyring.unseal(row.key)
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
