/**
 * Distinct values of a field, for whoever builds a condition: those that a condition can compare
 * with. Lists, objects and long texts are left out, and so are the fields that differ from contact
 * to contact (`email`, `createdAt`, `updatedAt`).
 */
import { jsonPath } from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { parameter, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { countHolders, readFieldName, type StandardField } from './fields.ts'

export type FieldValue = string | number | boolean

export type FieldValues = { field: string; values: FieldValue[]; count: number; limit: number }

type Deps = Pick<Core, 'store'>

/** As long as a condition's own values may be. */
const MAX_LENGTH = 1000
/** Most fields show what they hold at once; where they do not, larger pieces are read. */
const FIRST_PAGE = 500
const PAGE = 50_000

/** `type` as SQLite names it. */
type Row = { type: 'text' | 'integer' | 'real' | 'true' | 'false'; value: string | number }

/** Of one half of a project (`subscribed`): either is in the order of its numbers. */
const page = (columns: SQL) => sql`
  select ${columns} from contacts indexed by contacts_order
  where project_id = ${parameter('projectId')} and subscribed = ${parameter('subscribed')}
    and number > ${parameter('after')}
  order by number limit ${parameter('size')}`

/** Read before the values: contacts that come between the two are seen once more. */
export const selectPageEnd = statement<{ last: number | null; contacts: number }>(
  () => sql`select max(number) as last, count(*) as contacts from (${page(sql`number`)})`,
)

const valueColumns = sql`json_type(data, ${parameter('path')}) as type,
  json_extract(data, ${parameter('path')}) as value`

export const selectPageValues = statement<Row>(
  () => sql`
    select distinct type, value from (${page(valueColumns)})
    where type in ('true', 'false', 'integer', 'real')
      or (type = 'text' and length(value) <= ${MAX_LENGTH})
    limit ${parameter('most')}`,
)

/** At most `limit` of them, in order; of more, those of the oldest contacts. */
export async function listFieldValues(
  deps: Deps,
  { projectId, field, limit }: { projectId: string; field: string; limit: number },
): Promise<FieldValues> {
  const name = readFieldName(field)
  const values =
    'standard' in name
      ? standardValues(name.standard).slice(0, limit)
      : await findValues(deps, { projectId, key: name.key, limit })
  return { field, values, count: values.length, limit }
}

function standardValues(field: StandardField): FieldValue[] {
  return field === 'subscribed' ? [true, false] : []
}

type Search = { projectId: string; key: string; limit: number }

/** Reads until there are enough; nothing where the writer knows of nobody who has the key. */
async function findValues({ store }: Deps, search: Search): Promise<FieldValue[]> {
  const { projectId, key, limit } = search
  const found = new Set<FieldValue>()
  if ((await countHolders(store.scan, search)) === 0) return []
  for (const subscribed of [1, 0]) {
    // A text and the number that it spells are one value, and some were found before.
    const values = { projectId, path: jsonPath(key), subscribed, most: 4 * limit }
    let range = { after: 0, size: FIRST_PAGE }
    while (found.size < limit) {
      const end = await store.scan.find(selectPageEnd, { projectId, subscribed, ...range })
      const rows = await store.scan.list(selectPageValues, { ...values, ...range })
      for (const row of rows) found.add(toValue(row))
      if (end?.last == null || end.contacts < range.size) break
      range = { after: end.last, size: PAGE }
    }
  }
  return [...found].slice(0, limit).sort(compareValues)
}

function toValue({ type, value }: Row): FieldValue {
  if (type === 'true' || type === 'false') return type === 'true'
  if (typeof value === 'number') return value
  return typed(value)
}

/** Texts that spell a boolean or a number are that, where nothing of the text is lost. */
function typed(text: string): FieldValue {
  if (text === 'true' || text === 'false') return text === 'true'
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text) && String(Number(text)) === text
  return isNumber ? Number(text) : text
}

/** Booleans (true first), numbers, texts. */
function compareValues(a: FieldValue, b: FieldValue): number {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : 1
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return rank(a) - rank(b)
}

function rank(value: FieldValue): number {
  if (typeof value === 'boolean') return value ? 0 : 1
  return typeof value === 'number' ? 2 : 3
}
