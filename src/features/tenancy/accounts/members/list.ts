/** The members of a project. */
import { formatInstant } from '../../../../base/clock.ts'
import type { ListedMember } from '../../../../records/member.ts'
import { asc, eq } from '../../../../store/drizzle.ts'
import { memberships, users } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { isProven } from '../users/proof.ts'

/** Oldest first. Empty for a project that does not exist. */
export async function listMembers(
  { store }: Pick<Base, 'store'>,
  projectId: string,
): Promise<ListedMember[]> {
  const { userId, role, createdAt } = memberships
  const rows = await store.read
    .select({ userId, email: users.address, verifiedAt: users.verifiedAt, role, createdAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.projectId, projectId))
    .orderBy(asc(createdAt), asc(userId))
  return rows.map(({ userId, email, role, ...row }) => ({
    ...{ userId, email, emailVerified: isProven(row), role },
    createdAt: formatInstant(row.createdAt),
  }))
}
