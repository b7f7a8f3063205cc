/** Makes a user a member at once, for the command line. The API invites (`invitations/invite.ts`). */
import type { GivenRole, MemberRecord } from '../../../../records/member.ts'
import type { Base } from '../../../ground/base.ts'
import { revokeInvitationsTo } from '../invitations/revoke.ts'
import { getProvenUserId } from '../users/proof.ts'
import { getMember, insertMember } from './member.ts'
import { requireManager } from './require-admin.ts'

/**
 * The address of the user must be proven.
 * @throws AppError VALIDATION_ERROR (email), RESOURCE_NOT_FOUND, CONFLICT
 */
export async function addMember(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, email, role }: { projectId: string; email: string; role: GivenRole },
): Promise<MemberRecord> {
  const at = now()
  return store.write(async (tx) => {
    await requireManager(tx, { projectId })
    const userId = await getProvenUserId(tx, email)
    await insertMember(tx, { projectId, userId, role, at })
    const member = await getMember(tx, { projectId, userId })
    await revokeInvitationsTo(tx, { projectId, address: member.email, at })
    return member
  })
}
