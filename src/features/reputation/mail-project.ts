/** The project that sends the mail of this server to its users. */
import { and, eq } from '../../store/drizzle.ts'
import { domains } from '../../store/schema/domains.ts'
import type { Tx } from '../../store/write/transaction.ts'
import { SANDBOX_DOMAIN } from '../accounts/sandbox-project.ts'
import type { Base } from '../base.ts'

/** Without `accounts.mail_project`, it is the sandbox's project in sandbox mode. */
export async function isMailProject(
  { config: { accounts, delivery } }: Pick<Base, 'config'>,
  queries: Pick<Tx, 'select'>,
  projectId: string,
): Promise<boolean> {
  if (accounts.mailProject !== null) return accounts.mailProject === projectId
  if (delivery.mode !== 'sandbox') return false
  const isOfSandbox = and(
    eq(domains.projectId, projectId),
    eq(domains.domain, SANDBOX_DOMAIN),
    eq(domains.isVerified, true),
  )
  const own = await queries.select({ id: domains.id }).from(domains).where(isOfSandbox).get()
  return own !== undefined
}
