/** Finds the keys of data that at least one contact of a project has. */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** The number of keys that one query asks for. */
const AT_ONCE = 500

const findKeys = statement<{ key: string }>(
  () => sql`select key from contact_fields
    where project_id = ${parameter('projectId')} and key in ${listOf(parameter('keys'))}
      and contacts > 0`,
)

/** Whether some contact has the key. */
export async function isKey(
  queries: Pick<Tx, 'list'>,
  projectId: string,
  key: string,
): Promise<boolean> {
  return (await queries.list(findKeys, { projectId, keys: JSON.stringify([key]) })).length > 0
}

/** Yields the keys that no contact has, in their order. */
export async function* withoutFilled(
  queries: Pick<Tx, 'list'>,
  projectId: string,
  keys: readonly string[],
): AsyncGenerator<string> {
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    const asked = keys.slice(at, at + AT_ONCE)
    const rows = await queries.list(findKeys, { projectId, keys: JSON.stringify(asked) })
    const filled = new Set(rows.map(({ key }) => key))
    yield* asked.filter((key) => !filled.has(key))
  }
}
