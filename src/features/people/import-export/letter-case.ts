/**
 * Columns whose key differs only in letter case from a key that more contacts have: `Vorname` becomes `vorname`,
 * and what templates print as `Vorname` stays as it is.
 */
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { keyOf } from './csv/column-names.ts'

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
  /** By field: the header of its first column. The mapping names none of them. */
  names: ReadonlyMap<string, string>
}

/** Returns sentences for people. */
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
