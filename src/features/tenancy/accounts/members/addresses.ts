/** The addresses that belong to members of a project. */
import { listOf } from '../../../../store/dialect.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { memberships, users } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { isProvenUser } from '../users/proof.ts'

/** Returns those of the addresses that are proven to belong to members of the project. */
export async function findMemberAddresses(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const rows = await store.read
    .select({ address: users.address })
    .from(users)
    .innerJoin(
      memberships,
      and(eq(memberships.userId, users.id), eq(memberships.projectId, projectId)),
    )
    .where(
      and(isProvenUser(), sql`${users.address} in ${listOf(sql`${JSON.stringify(addresses)}`)}`),
    )
    .all()
  return new Set(rows.map(({ address }) => address))
}
