/** The types of the fields that the contacts of a project have. */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { ValueKind } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'

const selectKinds = statement<{ key: string; kind: ValueKind; contacts: number }>(
  () => sql`select key, kind, contacts from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 and kind <> 'other'
      and key in ${listOf(parameter('keys'))}
    order by contacts, kind`,
)

/**
 * Returns the kinds of values by key, that of most values last. Lists and objects do not count: no file but an
 * export has them.
 */
export async function findKnownKinds(
  { store }: Pick<Base, 'store'>,
  { projectId, keys }: { projectId: string; keys: readonly string[] },
): Promise<Map<string, ValueKind[]>> {
  const rows = await store.read.list(selectKinds, { projectId, keys: JSON.stringify(keys) })
  const kinds = new Map<string, ValueKind[]>()
  for (const { key, kind } of rows) kinds.set(key, [...(kinds.get(key) ?? []), kind])
  return kinds
}
