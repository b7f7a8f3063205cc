/** Loads and inserts rows of members, for the other files of this folder. */
import { AppError, notFound } from '../../../../base/errors.ts'
import type { MemberRecord } from '../../../../records/member.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { memberships, users } from '../../../../store/schema/accounts.ts'
import type { Role } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { requireUnbound } from '../users/proof.ts'

/** A user in a project. */
export type MemberKey = { projectId: string; userId: string }

/** @throws AppError RESOURCE_NOT_FOUND */
export async function loadMember(tx: Tx, { projectId, userId }: MemberKey): Promise<MemberRecord> {
  const member = await tx
    .select({ userId: users.id, email: users.address, role: memberships.role })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.projectId, projectId), eq(memberships.userId, userId)))
    .get()
  if (member !== undefined) return member
  throw notFound('member', userId, 'The project has no member with this id.')
}

/**
 * @throws AppError CONFLICT when the user is a member already, EMAIL_VERIFICATION_REQUIRED when the user is
 *   bound to another project
 */
export async function insertMember(
  tx: Tx,
  { projectId, userId, role, at }: MemberKey & { role: Role; at: number },
): Promise<void> {
  await requireUnbound(tx, { userId, projectId })
  const inserted = await tx
    .insert(memberships)
    .values({ projectId, userId, role, createdAt: at, updatedAt: at })
    .onConflictDoNothing()
    .returning({ userId: memberships.userId })
  if (inserted.length > 0) return
  throw alreadyMember()
}

export function alreadyMember(): AppError {
  return new AppError('CONFLICT', 'This user is already a member of the project.')
}

export async function setRole(
  tx: Tx,
  { projectId, userId, role, at }: MemberKey & { role: Role; at: number },
): Promise<void> {
  await tx
    .update(memberships)
    .set({ role, updatedAt: at })
    .where(and(eq(memberships.projectId, projectId), eq(memberships.userId, userId)))
}
