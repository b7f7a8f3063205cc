/**
 * SQL that differs between database engines. A statement that needs other SQL of one engine is in a
 * file `*.sqlite.ts` beside the code that runs it.
 */
import { normalize } from '../base/nfc.ts'
import { type SQL, sql } from './drizzle.ts'

/** A column, or any other term of SQL. */
type Term = { getSQL(): SQL }
/** A JavaScript list, or a parameter whose value is a list as JSON text. */
type List = readonly unknown[] | SQL

/** Indexes that queries name, because the planner would choose a worse one. */
export const NAMED_INDEXES = [
  'api_requests_project',
  'contacts_address',
  'contacts_order',
  'emails_campaign',
  'emails_campaign_shelf',
  'emails_contact',
  'emails_ends',
  'emails_held',
  'emails_leased',
  'emails_newest',
  'emails_parked',
  'emails_ready',
  'emails_template',
  'emails_workflow',
  'events_contact',
  'events_listed',
  'events_named',
  'jobs_kept',
  'jobs_unfinished',
  'metering_batches_charged',
  'metering_batches_ended',
  'metering_batches_open',
  'metering_batches_window',
  'segment_members_newest',
  'webhook_deliveries_status',
  'workflow_executions_due',
  'workflow_executions_line',
  'workflow_executions_place',
  'workflow_executions_status',
] as const
export type NamedIndex = (typeof NAMED_INDEXES)[number]

/** The values of a list, for use after `in`. */
export function listOf(list: List): SQL {
  return sql`(select value from ${eachOf(list)})`
}

/** A list as a table, for use after `from`: one row per element, with the column `value`. */
export function eachOf(list: List): SQL {
  return sql`json_each(${Array.isArray(list) ? JSON.stringify(list) : list})`
}

/** An element of a JSON array, counted from 0: text, number, or null. */
export function jsonItem(array: Term, index: number): SQL {
  return sql`${array} ->> ${sql.raw(String(index))}`
}

/** Makes the planner read a table by this index. Goes after the table's name. */
export function indexedBy(index: NamedIndex): SQL {
  return sql.raw(`indexed by ${index}`)
}

/** Makes the planner read a table in the order of its rows. Goes after the table's name. */
export function notIndexed(): SQL {
  return sql.raw('not indexed')
}

/** A term that the planner does not look up in an index. */
export function unindexed(term: Term): SQL {
  return sql`+${term}`
}

/**
 * A join that the planner keeps in the written order: the rows before it are read first. A table and
 * its `on` follow.
 */
export function orderedJoin(): SQL {
  return sql.raw('cross join')
}

/** The larger of two numbers. */
export function larger(a: Term | number, b: Term | number): SQL {
  return sql`max(${a}, ${b})`
}

/** The number that the engine gives each row of a table, in the order in which rows were added. */
export function rowNumber(table?: string): SQL {
  return sql.raw(table === undefined ? 'rowid' : `${table}.rowid`)
}

/**
 * Selects the last number that a table has given to a row, even if the row is gone. Selects no row if the
 * table has given no number yet.
 */
export function selectLastNumber(table: string): SQL {
  return sql`select seq from sqlite_sequence where name = ${table}`
}

/** Makes the numbers of a table's later rows higher than `last`. Run the two statements in this order. */
export function raiseLastNumber(table: string, last: SQL): readonly [SQL, SQL] {
  return [
    sql`insert into sqlite_sequence (name, seq) select ${table}, 0
      where not exists (select 1 from sqlite_sequence where name = ${table})`,
    sql`update sqlite_sequence set seq = ${last} where name = ${table} and seq < ${last}`,
  ]
}

/**
 * The digest of an address of a project (`Keyring.addressDigest`). `tx` and `store.read` know it; scan
 * threads do not, because they have no key.
 */
export function addressDigest(projectId: Term, address: Term): SQL {
  return sql`address_digest(${projectId}, ${address})`
}

/** The size of a text in octets of UTF-8. */
export function octets(text: Term): SQL {
  return sql`octet_length(${text})`
}

/** Whether a text contains `part`; letter case counts. */
export function contains(text: Term, part: string | SQL): SQL {
  return sql`instr(${text}, ${part}) > 0`
}

/** Whether a text starts with `prefix`, which has none of `*?[`; letter case counts. */
export function startsWith(text: Term, prefix: string): SQL {
  return sql`${text} glob ${`${prefix}*`}`
}

/** The first characters of a text. */
export function firstCharacters(text: Term, count: number): SQL {
  return sql`substr(${text}, 1, ${sql.raw(String(count))})`
}

/** Whether a text has the shape YYYY-MM-DD, alone or followed by a T and any text. */
export function hasDateShape(text: Term): SQL {
  const day = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
  return sql`(${text} glob ${`${day}T*`} or ${text} glob ${day})`
}

/** Collects the terms of all rows in one JSON array, as text. A `filter` clause may follow. */
export function jsonListOf(term: Term): SQL {
  return sql`json_group_array(${term})`
}

/** A JSON object column without the key at `path` (`jsonPath`). */
export function jsonWithout(column: Term, path: SQL): SQL {
  return sql`json_remove(${column}, ${path})`
}

/**
 * The value of `key` in a JSON object column: text, number or 0/1; objects and arrays as JSON text;
 * null without such a key. The key may be any text.
 */
export function jsonValue(column: Term, key: string): SQL {
  return sql`json_extract(${column}, ${jsonPath(key)})`
}

/**
 * The elements of the array at `key` in a JSON object column, as a table for use after `from`: one row per
 * element, with the columns `value` (as of `jsonValue`) and `type` (as of `jsonType`).
 */
export function eachElement(column: Term, key: string): SQL {
  return sql`json_each(${column}, ${jsonPath(key)})`
}

/**
 * The JSON type of the value of `key`: true, false, null, integer, real, text, array, object; SQL
 * null without such a key. If `key` is a parameter, its value is the key's `jsonPath`.
 */
export function jsonType(column: Term, key: string | SQL): SQL {
  return sql`json_type(${column}, ${typeof key === 'string' ? jsonPath(key) : key})`
}

/**
 * A number to compare with a `jsonValue`. SQLite itself parses the fraction on both sides, so equal
 * numbers are equal.
 */
export function jsonNumber(value: number): SQL {
  if (Number.isSafeInteger(value)) return sql`${value}`
  return sql`json_extract(${JSON.stringify(value)}, '$')`
}

/** The engine's path to `key` in a JSON object; the key may be any text. */
export function jsonPath(key: string): string {
  return `$.${JSON.stringify(key)}`
}

/**
 * Whether a text contains `part`, in any letter case of any script. LIKE ignores the case of ASCII
 * letters only.
 */
export function containsText(column: Term, part: string): SQL {
  return part.includes('\0') ? sql`false` : sql`${column} glob ${`*${anyCase(part)}*`}`
}

/** Whether a text begins with `part`, in any letter case of any script. */
export function beginsWithText(column: Term, part: string): SQL {
  return part.includes('\0') ? sql`false` : sql`${column} glob ${`${anyCase(part)}*`}`
}

/**
 * A glob pattern for a text in any letter case. A pattern ends at its first NUL, so it would match
 * every text with that beginning: the callers refuse texts with one.
 */
function anyCase(part: string): string {
  return Array.from(normalize(part), (char) => {
    const upper = char.toUpperCase()
    const forms = [char, upper, char.toLowerCase(), upper.toLowerCase()]
    const letters = new Set(forms.filter((form) => [...form].length === 1))
    return letters.size > 1 || '*?['.includes(char) ? `[${[...letters].join('')}]` : char
  }).join('')
}

/**
 * A parameter of a hot statement's WHERE or LIMIT. SQLite (3.54) reads such values when it plans,
 * and may compile the whole statement again whenever one is bound: always for a LIMIT, and for a column
 * that a partial index compares with a constant. A plus in front prevents this.
 */
export function unseen<Value extends SQL>(value: Value): Value {
  return sql`+${value}` as Value
}
