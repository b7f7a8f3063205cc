/** Whether a user must prove the address before anything else. Without mail nobody could. */
import type { Base } from '../../../ground/base.ts'
import type { SessionUser } from '../callers/caller.ts'
import { isProven } from '../users/proof.ts'
import { findMailProjectId } from './mail-project.ts'

export async function needsVerification(
  deps: Pick<Base, 'config' | 'store'>,
  user: Pick<SessionUser, 'verifiedAt'>,
): Promise<boolean> {
  return !isProven(user) && (await findMailProjectId(deps, deps.store.read)) !== undefined
}
