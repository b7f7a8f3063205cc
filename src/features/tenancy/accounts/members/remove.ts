/** Removes a member from a project, or lets a member leave. The owner stays. */
import { AppError } from '../../../../base/errors.ts'
import type { MemberRecord } from '../../../../records/member.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { memberships } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { revokeInvitationsBy } from '../invitations/revoke.ts'
import { getMember, type MemberKey } from './member.ts'
import { requireManager } from './require-admin.ts'

/**
 * Takes effect with the member's next request. `actorId`: the user who acts; absent for the command
 * line. Members need no role to remove themselves.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN
 */
export async function removeMember(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, userId }: MemberKey,
  actorId?: string,
): Promise<MemberRecord> {
  const at = now()
  return store.write(async (tx) => {
    if (userId !== actorId) await requireManager(tx, { projectId, actorId })
    const member = await getMember(tx, { projectId, userId })
    if (member.role === 'OWNER') throw ownerStays()
    await tx
      .delete(memberships)
      .where(and(eq(memberships.projectId, projectId), eq(memberships.userId, userId)))
    await revokeInvitationsBy(tx, { projectId, userId, at })
    return member
  })
}

function ownerStays(): AppError {
  return new AppError('FORBIDDEN', 'The owner of a project cannot be removed.', {
    suggestion: 'An operator names another owner with "pillarbox project member role".',
  })
}
