/** Changes the role of a member. The role of the owner changes only with a new owner (`handOver`). */
import { AppError } from '../../../../base/errors.ts'
import type { GivenRole, MemberRecord } from '../../../../records/member.ts'
import type { Base } from '../../../ground/base.ts'
import { revokeInvitationsBy } from '../invitations/revoke.ts'
import { getMember, type MemberKey, setRole } from './member.ts'
import { requireManager } from './require-admin.ts'

/**
 * `actorId`: the user who acts; absent for the command line.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN
 */
export async function changeRole(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, userId }: MemberKey,
  { role, actorId }: { role: GivenRole; actorId?: string },
): Promise<MemberRecord> {
  const at = now()
  return store.write(async (tx) => {
    await requireManager(tx, { projectId, actorId })
    const member = await getMember(tx, { projectId, userId })
    if (member.role === 'OWNER') throw ownerStays()
    await setRole(tx, { projectId, userId, role, at })
    if (role === 'MEMBER') await revokeInvitationsBy(tx, { projectId, userId, at })
    return { ...member, role }
  })
}

function ownerStays(): AppError {
  return new AppError('FORBIDDEN', 'The role of the owner cannot be changed.', {
    suggestion: 'An operator names another owner with "pillarbox project member role".',
  })
}
