/** The keys that the contacts of a project have, for hints on misspelt names. */
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** Further keys are not compared: a comparison takes time in proportion to their number. */
export const MAX_KEYS = 500

const listKeys = statement<{ key: string }>(
  () => sql`select key from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 order by key limit ${parameter('limit')}`,
)

/** Keys of the data of contacts for hints: at most 500, without those that no contact has any more. */
export async function listDataKeys(
  queries: Pick<Tx, 'list'>,
  projectId: string,
): Promise<string[]> {
  const rows = await queries.list(listKeys, { projectId, limit: MAX_KEYS })
  return rows.map(({ key }) => key)
}
