/** On which projects' suppression lists an address stands. */
import { sql } from '../../store/drizzle.ts'
import { type Suppression, suppressions } from '../../store/schema/suppressions.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'

export type SuppressedAddress = Pick<Suppression, 'projectId' | 'reason' | 'source' | 'createdAt'>

/** Project by project in the index of their lists. */
export const listByAddress = statement((db) =>
  db
    .select({
      projectId: suppressions.projectId,
      reason: suppressions.reason,
      source: suppressions.source,
      createdAt: suppressions.createdAt,
    })
    .from(suppressions)
    .where(
      sql`${suppressions.projectId} in (select id from projects)
        and ${suppressions.address} = ${parameter('address')}`,
    ),
)

/** `address` as `ParsedAddress.address` has it. */
export function findSuppressed(
  { store }: Pick<Base, 'store'>,
  address: string,
): Promise<SuppressedAddress[]> {
  return store.scan.list(listByAddress, { address })
}
