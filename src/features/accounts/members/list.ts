/** The members of a project. */
import { formatInstant } from '../../../clock.ts'
import { asc, eq } from '../../../store/drizzle.ts'
import { memberships, users } from '../../../store/schema/accounts.ts'
import type { Role } from '../../../store/schema/words.ts'
import type { Base } from '../../base.ts'

type ListedMember = { userId: string; email: string; role: Role; createdAt: string }

/** Oldest first. Empty for a project that does not exist. */
export async function listMembers(
  { store }: Pick<Base, 'store'>,
  projectId: string,
): Promise<ListedMember[]> {
  const { userId, role, createdAt } = memberships
  const rows = await store.read
    .select({ userId, email: users.address, role, createdAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.projectId, projectId))
    .orderBy(asc(createdAt), asc(userId))
  return rows.map((row) => ({ ...row, createdAt: formatInstant(row.createdAt) }))
}
