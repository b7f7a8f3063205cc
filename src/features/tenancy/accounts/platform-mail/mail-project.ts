/**
 * The project that sends the mail of this server to its users: `accounts.mail_project`; in sandbox mode the
 * sandbox's project, unless another is set.
 */
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { SessionUser } from '../callers/caller.ts'
import { findSandboxProject } from '../projects/sandbox-project.ts'
import { isProven } from '../users/proof.ts'

/** Undefined if the server sends no mail to its users. */
export async function findMailProjectId(
  { config: { accounts, delivery } }: Pick<Base, 'config'>,
  queries: Pick<Tx, 'select'>,
): Promise<string | undefined> {
  if (accounts.mailProject !== null) return accounts.mailProject
  if (delivery.mode !== 'sandbox') return undefined
  return (await findSandboxProject(queries))?.id
}

/**
 * Whether a user must prove the address before anything else. Always false without a mail project:
 * the link could not be mailed.
 */
export async function needsVerification(
  deps: Pick<Base, 'config' | 'store'>,
  user: Pick<SessionUser, 'verifiedAt'>,
): Promise<boolean> {
  return !isProven(user) && (await findMailProjectId(deps, deps.store.read)) !== undefined
}
