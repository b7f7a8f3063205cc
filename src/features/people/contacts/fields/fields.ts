/**
 * Lists the fields of a project's contacts (four standard fields, and the keys of their data as
 * `data.<key>`) and the values of a field. Triggers count the contacts of each key; this module
 * reads the counts.
 */
import type { ContactField, FieldValues } from '../../../../records/contact-field.ts'
import { jsonPath } from '../../../../store/dialect.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { contactFields } from '../../../../store/schema/contacts.ts'
import type { ValueKind } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Reader } from '../../../../store/store.ts'
import type { Base } from '../../../ground/base.ts'
import { selectValues } from './values.sqlite.ts'

type FieldType = ContactField['type']

/** A parsed field name. */
export type FieldName = { standard: StandardField } | { key: string }

type StandardField = keyof typeof STANDARD_FIELDS

const STANDARD_FIELDS = {
  email: 'string',
  subscribed: 'boolean',
  createdAt: 'date',
  updatedAt: 'date',
} as const satisfies Record<string, FieldType>

const DATA_PREFIX = 'data.'
/**
 * Only this many keys are listed, in the order of their names. More keys come from a mistake in a
 * client.
 */
const MAX_KEYS = 10_000

const selectKinds = statement((db) =>
  db
    .select({
      key: contactFields.key,
      kind: contactFields.kind,
      contacts: contactFields.contacts,
    })
    .from(contactFields)
    .where(eq(contactFields.projectId, parameter('projectId')))
    .orderBy(contactFields.key)
    .limit(MAX_KEYS),
)

const selectTotal = statement((db) =>
  db
    .select({ contacts: projects.contactCount })
    .from(projects)
    .where(eq(projects.id, parameter('projectId'))),
)

const selectHolders = statement((db) =>
  db
    .select({ contacts: sql<number>`coalesce(sum(${contactFields.contacts}), 0)` })
    .from(contactFields)
    .where(
      and(
        eq(contactFields.projectId, parameter('projectId')),
        eq(contactFields.key, parameter('key')),
      ),
    ),
)

type Counts = readonly { kind: ValueKind; contacts: number }[]

type FieldValue = FieldValues['values'][number]

type Deps = Pick<Base, 'store'>

type ValueSearch = { projectId: string; key: string; limit: number }

/** Lists the fields in the order of their names. */
export async function listContactFields(
  { store }: Pick<Base, 'store'>,
  projectId: string,
): Promise<{ fields: ContactField[]; count: number }> {
  const [kinds, total] = await Promise.all([
    store.scan.list(selectKinds, { projectId }),
    countProjectContacts(store.scan, projectId),
  ])
  const byKey = Map.groupBy(kinds, ({ key }) => key)
  const custom = [...byKey].map(([key, counts]) => describeKey(key, counts, total))
  const standard = Object.entries(STANDARD_FIELDS).map(([field, type]) => ({
    field,
    type,
    coverage: 100,
  }))
  const fields = [...standard, ...custom].sort((a, b) => (a.field < b.field ? -1 : 1))
  return { fields, count: fields.length }
}

/** `plan` and `data.plan` are the same key, unless a standard field has the name. */
export function parseFieldName(field: string): FieldName {
  if (isStandard(field)) return { standard: field }
  return { key: dataKeyOf(field) ?? field }
}

/** Returns the key of `data.<key>`; undefined for other names. */
export function dataKeyOf(field: string): string | undefined {
  return field.startsWith(DATA_PREFIX) ? field.slice(DATA_PREFIX.length) : undefined
}

export async function countProjectContacts(
  reader: Pick<Reader, 'find'>,
  projectId: string,
): Promise<number> {
  const row = await reader.find(selectTotal, { projectId })
  return row?.contacts ?? 0
}

/** Counts the contacts of the project that have the key. */
export async function countContactsWithKey(
  reader: Pick<Reader, 'find'>,
  { projectId, key }: { projectId: string; key: string },
): Promise<number> {
  const row = await reader.find(selectHolders, { projectId, key })
  return row?.contacts ?? 0
}

/**
 * Lists the distinct values of a field that a condition can compare with. Lists, objects and long
 * texts are omitted. `email`, `createdAt` and `updatedAt` have no values here, because they differ
 * from contact to contact. Returns at most `limit` values, sorted. If there are more, it returns
 * the values of subscribed contacts before others, and of the oldest contacts first.
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

function describeKey(key: string, counts: Counts, total: number): ContactField {
  const contacts = counts.reduce((sum, each) => sum + each.contacts, 0)
  // The two counts are not from one transaction: the count of the key may exceed the total.
  const share = total === 0 ? 0 : Math.min(1, contacts / total)
  const coverage = Math.round(100 * share)
  return { field: `${DATA_PREFIX}${key}`, type: commonType(counts), coverage }
}

/**
 * Returns the most frequent type. On a tie, the first of `sums` wins: `string` is first because any
 * value can be read as a string.
 */
function commonType(counts: Counts): FieldType {
  const sums: Record<FieldType, number> = { string: 0, number: 0, boolean: 0, date: 0 }
  for (const { kind, contacts } of counts) sums[kind === 'other' ? 'string' : kind] += contacts
  const types = Object.keys(sums) as FieldType[]
  return types.reduce((best, type) => (sums[type] > sums[best] ? type : best))
}

function isStandard(field: string): field is StandardField {
  return Object.hasOwn(STANDARD_FIELDS, field)
}

function standardValues(field: StandardField): FieldValue[] {
  return field === 'subscribed' ? [true, false] : []
}

/** Lists the values of a key. Reads no contacts if the counters say that none has the key. */
async function findValues(deps: Deps, search: ValueSearch): Promise<FieldValue[]> {
  const { limit } = search
  if ((await countContactsWithKey(deps.store.scan, search)) === 0) return []
  const first = await readBoth(deps, search, limit)
  // A text and the number or boolean that it spells are one value, so at most two rows have the
  // same value: twice the number of rows is enough.
  const isShort = first.found.size < limit && first.hasMore
  const { found } = isShort ? await readBoth(deps, search, 2 * limit) : first
  return [...found].slice(0, limit).sort(compareValues)
}

/**
 * Reads up to `limit` values from subscribed contacts and up to `limit` from unsubscribed ones,
 * concurrently.
 */
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
