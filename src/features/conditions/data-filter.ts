/**
 * Filters on contact data, with the types of JSON. Only `notExists` matches a key that is absent or
 * null. For a present value, a negated operator is the opposite of the positive one: the number 1
 * is `notEquals` to "1" and contains nothing.
 */
import {
  contains,
  hasDateShape,
  jsonNumber,
  jsonType,
  jsonValue,
  startsWith,
} from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { contacts } from '../../store/schema/contacts.ts'
import { dayOf, lowestTextOf, parseDataDate } from './dates.ts'
import type { OperatorOf } from './operators.ts'

type DataFilter = {
  key: string
  operator: OperatorOf<'data'>
  value: unknown
  /** The start of the span of `within` and `olderThan`. */
  since: number
}

type DataField = { value: SQL; type: SQL }

const COMPARATORS = {
  greaterThan: sql`>`,
  lessThan: sql`<`,
  greaterThanOrEqual: sql`>=`,
  lessThanOrEqual: sql`<=`,
}

/** Returns an expression that is 1, 0 or null for a row of `contacts`. */
export function compileDataFilter({ key, operator, value, since }: DataFilter): SQL {
  const field: DataField = {
    value: jsonValue(contacts.data, key),
    type: jsonType(contacts.data, key),
  }
  switch (operator) {
    case 'exists':
      return sql`${field.type} <> 'null'`
    case 'notExists':
      return sql`coalesce(${field.type}, 'null') = 'null'`
    case 'equals':
      return equals(field, value)
    case 'notEquals':
      return sql`(${field.value} is not null and not ${equals(field, value)})`
    case 'contains':
      return hasPart(field, value)
    case 'notContains':
      return sql`(${field.value} is not null and not ${hasPart(field, value)})`
    case 'within':
      return sql`(${field.value} >= ${lowestTextOf(since)} and ${isDate(field)})`
    case 'olderThan':
      return sql`(${field.value} < ${lowestTextOf(since)} and ${isDate(field)})`
    default:
      return compare(field, { comparator: COMPARATORS[operator], value })
  }
}

function equals(field: DataField, value: unknown): SQL {
  if (typeof value === 'boolean') return sql`(${field.type} = ${String(value)})`
  if (typeof value === 'number') return equalsNumber(field, value)
  const text = String(value)
  const instant = parseDataDate(text)
  if (instant !== undefined) return isOnDay(field, dayOf(instant))
  // SQLite returns lists and objects as JSON text.
  const isLikeJson = text.startsWith('[') || text.startsWith('{')
  const isEqual = sql`${field.value} = ${text}`
  return isLikeJson ? sql`(${isEqual} and ${field.type} = 'text')` : sql`(${isEqual})`
}

/** SQLite returns true and false as 1 and 0. */
function equalsNumber(field: DataField, value: number): SQL {
  const isEqual = sql`${field.value} = ${jsonNumber(value)}`
  return value === 0 || value === 1 ? sql`(${isEqual} and ${isNumber(field)})` : sql`(${isEqual})`
}

function isOnDay({ value }: DataField, day: string): SQL {
  return sql`(${value} = ${day} or ${startsWith(value, `${day}T`)})`
}

function hasPart({ value, type }: DataField, part: unknown): SQL {
  return sql`(${contains(value, String(part))} and ${type} = 'text')`
}

function compare(
  field: DataField,
  { comparator, value }: { comparator: SQL; value: unknown },
): SQL {
  if (typeof value === 'number') {
    return sql`(${field.value} ${comparator} ${jsonNumber(value)} and ${isNumber(field)})`
  }
  return sql`(${field.value} ${comparator} ${String(value)} and ${field.type} = 'text')`
}

function isNumber({ type }: DataField): SQL {
  return sql`${type} in ('integer', 'real')`
}

/** Only texts have the shape of a date. */
function isDate({ value }: DataField): SQL {
  return hasDateShape(value)
}
