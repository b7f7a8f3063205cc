/** Makes a member the owner of a project. */
import type { MemberRecord } from '../../../../records/member.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { memberships } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { getProvenUserId } from '../users/proof.ts'
import { getMember, type MemberKey, setRole } from './member.ts'
import { requireManager } from './require-admin.ts'

/**
 * The owner until now becomes an ADMIN in the same transaction, so the project has one owner at all
 * times. The address of the new owner must be proven.
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT
 */
export async function handOver(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, userId }: MemberKey,
): Promise<MemberRecord> {
  const at = now()
  return store.write(async (tx) => {
    await requireManager(tx, { projectId })
    const member = await getMember(tx, { projectId, userId })
    if (member.role === 'OWNER') return member
    await getProvenUserId(tx, member.email)
    await tx
      .update(memberships)
      .set({ role: 'ADMIN', updatedAt: at })
      .where(and(eq(memberships.projectId, projectId), eq(memberships.role, 'OWNER')))
    await setRole(tx, { projectId, userId, role: 'OWNER', at })
    return { ...member, role: 'OWNER' }
  })
}
