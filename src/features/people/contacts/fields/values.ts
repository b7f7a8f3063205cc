/**
 * Lists the distinct values of a field that a condition can compare with. Lists, objects and long
 * texts are omitted. `email`, `createdAt` and `updatedAt` have no values here, because they differ
 * from contact to contact.
 */
import type { FieldValues } from '../../../../records/contact-field.ts'
import { jsonPath } from '../../../../store/dialect.ts'
import type { Base } from '../../../ground/base.ts'
import { countContactsWithKey, parseFieldName, type StandardField } from './list.ts'
import { selectValues } from './values.sqlite.ts'

type FieldValue = FieldValues['values'][number]

type Deps = Pick<Base, 'store'>

/**
 * Returns at most `limit` values, sorted. If there are more, it returns those of subscribed
 * contacts before others, and of the oldest contacts first.
 */
export async function listFieldValues(
  deps: Deps,
  { projectId, field, limit }: { projectId: string; field: string; limit: number },
): Promise<FieldValues> {
  const name = parseFieldName(field)
  const values =
    'standard' in name
      ? standardValues(name.standard).slice(0, limit)
      : await findValues(deps, { projectId, key: name.key, limit })
  return { field, values, count: values.length, limit }
}

function standardValues(field: StandardField): FieldValue[] {
  return field === 'subscribed' ? [true, false] : []
}

type ValueSearch = { projectId: string; key: string; limit: number }

/** Reads no contacts if the counters say that none has the key. */
async function findValues(deps: Deps, search: ValueSearch): Promise<FieldValue[]> {
  const { limit } = search
  if ((await countContactsWithKey(deps.store.scan, search)) === 0) return []
  const first = await readBoth(deps, search, limit)
  // A text and the number that it spells are one value, so twice the number of rows is enough.
  const isShort = first.found.size < limit && first.hasMore
  const { found } = isShort ? await readBoth(deps, search, 2 * limit) : first
  return [...found].slice(0, limit).sort(compareValues)
}

/** Reads up to `limit` values of subscribed and of unsubscribed contacts each, concurrently. */
async function readBoth({ store }: Deps, { projectId, key }: ValueSearch, limit: number) {
  const values = { projectId, path: jsonPath(key), limit }
  const both = await Promise.all(
    [1, 0].map((subscribed) => store.scan.list(selectValues, { ...values, subscribed })),
  )
  const found = new Set(both.flat().map(({ json }) => toValue(JSON.parse(json) as FieldValue)))
  return { found, hasMore: both.some((rows) => rows.length === limit) }
}

function toValue(value: FieldValue): FieldValue {
  return typeof value === 'string' ? typed(value) : value
}

/** Converts a text that spells a boolean or a number, if the conversion loses nothing. */
function typed(text: string): FieldValue {
  if (text === 'true' || text === 'false') return text === 'true'
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text) && String(Number(text)) === text
  return isNumber ? Number(text) : text
}

/** Orders booleans (true first) before numbers before texts. */
function compareValues(a: FieldValue, b: FieldValue): number {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : 1
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return rank(a) - rank(b)
}

function rank(value: FieldValue): number {
  if (typeof value === 'boolean') return value ? 0 : 1
  return typeof value === 'number' ? 2 : 3
}
