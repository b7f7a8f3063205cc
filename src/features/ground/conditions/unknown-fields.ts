/**
 * Finds fields that filters name although no contact has them, each with the field that was
 * probably meant.
 */
import { newEffort } from '../../../config/layers/closest.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../base.ts'
import { listDataKeys } from './data-keys.ts'
import { parseConditionField } from './field.ts'
import { nearestName, shortenForError } from './field-errors.ts'
import type { Filter } from './filter.ts'

type UnknownField = {
  /** The field as the filter names it, shortened: `data.City`. */
  name: string
  /** Which contacts the filter on this field selects. */
  effect: 'nobody' | 'everybody'
  /** The field that was probably meant: `data.city`. */
  meant: string | undefined
}

/** The most fields that are looked up. */
const MAX_FIELDS = 20

const findKey = statement<{ found: number }>(
  () => sql`select 1 as found from contact_fields
    where project_id = ${parameter('projectId')} and key = ${parameter('key')} and contacts > 0
    limit 1`,
)

export async function findUnknownFields(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  filters: Iterable<Filter>,
): Promise<UnknownField[]> {
  const asked = new Map<string, Filter>()
  for (const filter of filters) {
    const field = parseConditionField(filter)
    if (field?.kind !== 'data' || asked.has(field.key)) continue
    asked.set(field.key, filter)
    if (asked.size === MAX_FIELDS) break
  }
  const unknown: UnknownField[] = []
  const effort = newEffort()
  let keys: readonly string[] | undefined
  for (const [key, { field, operator }] of asked) {
    if ((await store.read.find(findKey, { projectId, key })) !== undefined) continue
    keys ??= await listDataKeys(store.read, projectId)
    const near = nearestName(key, keys, effort)
    unknown.push({
      name: shortenForError(field),
      effect: operator === 'notExists' ? 'everybody' : 'nobody',
      meant: near === undefined ? undefined : `data.${near}`,
    })
  }
  return unknown
}
