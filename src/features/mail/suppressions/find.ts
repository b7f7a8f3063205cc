/** Finds the projects that suppress an address. */
import { sql } from '../../../store/drizzle.ts'
import { type Suppression, suppressions } from '../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'

export type SuppressedAddress = Pick<Suppression, 'projectId' | 'reason' | 'source' | 'createdAt'>

/** Searches each project's part of the index on project and address. */
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
      sql`${suppressions.projectId} in (select id from projects where deleted_at is null)
        and ${suppressions.address} = ${parameter('address')}`,
    ),
)

/** `address`: in the form of `ParsedAddress.address`. */
export function findSuppressed(
  { store }: Pick<Base, 'store'>,
  address: string,
): Promise<SuppressedAddress[]> {
  return store.scan.list(listByAddress, { address })
}
