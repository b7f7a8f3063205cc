/**
 * Lists the keys that the contacts of a project have in their data, for hints on misspelt names.
 */
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/**
 * The most keys that are compared, because a comparison takes time in proportion to their number.
 */
export const MAX_KEYS = 500

const listKeys = statement<{ key: string }>(
  () => sql`select key from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 order by key limit ${parameter('limit')}`,
)

/** Lists at most 500 keys of contact data for hints, without keys that no contact has any more. */
export async function listDataKeys(
  queries: Pick<Tx, 'list'>,
  projectId: string,
): Promise<string[]> {
  const rows = await queries.list(listKeys, { projectId, limit: MAX_KEYS })
  return rows.map(({ key }) => key)
}
