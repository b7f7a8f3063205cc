/** What the database engines write differently; no other file knows which engine runs. */
import { type SQL, sql, type sqliteTable } from './drizzle.ts'

type Columns = ReturnType<typeof sqliteTable>['_']['columns']

/**
 * The value of `key` in a JSON object column: text, number or 0/1; objects and arrays as JSON text;
 * null where there is none. The key may be any text.
 */
export function jsonValue(column: Columns[string] | SQL, key: string): SQL {
  return sql`json_extract(${column}, ${jsonPath(key)})`
}

/** The JSON type of that value: true, false, null, integer, real, text, array, object; null for none. */
export function jsonType(column: Columns[string] | SQL, key: string): SQL {
  return sql`json_type(${column}, ${jsonPath(key)})`
}

/** A number to compare a `jsonValue` with: read from text as that one is, so that equals are equal. */
export function jsonNumber(value: number): SQL {
  if (Number.isSafeInteger(value)) return sql`${value}`
  return sql`json_extract(${JSON.stringify(value)}, '$')`
}

/** What names `key` in a JSON object to the engine; the key may be any text. */
export function jsonPath(key: string): string {
  return `$.${JSON.stringify(key)}`
}

/** Whether a text contains `part`, letter case aside in every script; unlike LIKE, which folds ASCII. */
export function containsText(column: { getSQL(): SQL }, part: string): SQL {
  // A pattern ends at its first NUL, and would match everything that begins so.
  if (part.includes('\0')) return sql`false`
  const anyCase = Array.from(part.normalize('NFC'), (char) => {
    const upper = char.toUpperCase()
    const forms = [char, upper, char.toLowerCase(), upper.toLowerCase()]
    const letters = new Set(forms.filter((form) => [...form].length === 1))
    return letters.size > 1 || '*?['.includes(char) ? `[${[...letters].join('')}]` : char
  })
  return sql`${column} glob ${`*${anyCase.join('')}*`}`
}

/**
 * A parameter of a hot statement's WHERE or LIMIT. SQLite (3.54) looks at such values when it plans,
 * and may compile the whole statement anew whenever one is bound; behind a plus it does not look.
 */
export function unseen(value: SQL): SQL {
  return sql`+${value}`
}

/** Ends a sub-select of rows to claim. With a single writer nobody competes for them. */
export function forClaim(): SQL {
  return sql``
}
