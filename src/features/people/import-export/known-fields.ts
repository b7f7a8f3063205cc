/**
 * Compares the columns of an import with the fields that the contacts of the project have: their
 * types, and keys that differ only in letter case.
 */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { ValueKind } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { keyOf } from './csv/column-names.ts'

const selectKinds = statement<{ key: string; kind: ValueKind; contacts: number }>(
  () => sql`select key, kind, contacts from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 and kind <> 'other'
      and key in ${listOf(parameter('keys'))}
    order by contacts, kind`,
)

/** Warnings of one file. */
const MAX_WARNINGS = 10

/** Most contacts first. */
const listKeys = statement<{ key: string; contacts: number }>(
  () => sql`select key, sum(contacts) as contacts from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0
    group by key order by contacts desc, key`,
)

type Columns = {
  projectId: string
  /**
   * The header of the first column of each field, by field; without columns that the mapping names.
   */
  names: ReadonlyMap<string, string>
}

/**
 * Returns the kinds of values by key, the kind of most values last. Lists and objects do not count:
 * only an export can have them.
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

/**
 * Returns a warning, as a sentence, for each column whose key differs only in letter case from a
 * key that more contacts have: `Vorname` becomes `vorname`, and templates that print `Vorname` do
 * not change.
 */
export async function findOtherCases(
  { store }: Pick<Base, 'store'>,
  { projectId, names }: Columns,
): Promise<string[]> {
  if (names.size === 0) return []
  const mostUsed = new Map<string, string>()
  for (const { key } of await store.scan.list(listKeys, { projectId })) {
    const lower = key.toLowerCase()
    if (!mostUsed.has(lower)) mostUsed.set(lower, key)
  }
  const warnings: string[] = []
  for (const [field, name] of names) {
    const key = keyOf(field) ?? ''
    const other = mostUsed.get(key.toLowerCase())
    if (other === undefined || other === key) continue
    warnings.push(
      `The column "${name}" becomes the key "${key}"; contacts have the key "${other}": ` +
        `map ${JSON.stringify({ [name]: other })} to fill it.`,
    )
    if (warnings.length === MAX_WARNINGS) break
  }
  return warnings
}
