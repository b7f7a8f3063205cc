/**
 * Filters on contact data, with the types of JSON. Only `notExists` matches a key that is absent or
 * null. A list is searched by `contains`, `in` and their opposites, element by element. A value of
 * a type that the operator cannot judge (`data-fit.ts`) matches neither an operator nor its opposite;
 * any other present value matches one of the two: the number 1 is `notEquals` to "1".
 */

import type { OperatorOf } from '../../../records/operators.ts'
import {
  contains,
  eachElement,
  firstCharacters,
  hasDateShape,
  jsonNumber,
  jsonType,
  jsonValue,
  listOf,
  startsWith,
} from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { dayOf, lowestTextOf, parseDataDate } from './dates.ts'

type DataFilter = {
  key: string
  operator: OperatorOf<'data'>
  value: unknown
  /** Where the span of `within` and `olderThan` begins (epoch ms). */
  since: number
}

/** The number of characters of `2026-01-31`. */
const DAY_LENGTH = 10

type DataField = { key: string; value: SQL; type: SQL }

const COMPARATORS = {
  greaterThan: sql`>`,
  lessThan: sql`<`,
  greaterThanOrEqual: sql`>=`,
  lessThanOrEqual: sql`<=`,
}

/**
 * Returns an expression that is 1 for a row of `contacts` that matches, and 0 or null for any other.
 */
export function compileDataFilter({ key, operator, value, since }: DataFilter): SQL {
  const field: DataField = {
    key,
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
      return differs(field, value)
    case 'contains':
      return hasPart(field, value)
    case 'notContains':
      return sql`(case ${field.type} when 'text' then not ${contains(field.value, String(value))}
        when 'array' then not ${hasElement(field, [value])} end)`
    case 'in':
      return sql`(${isOneOf(field, value as unknown[])} or ${isListWithOneOf(field, value as unknown[])})`
    case 'notIn':
      return sql`(case ${field.type} when 'array' then not ${hasElement(field, value as unknown[])}
        when 'object' then null when 'null' then null
        else ${field.value} is not null and (${isOneOf(field, value as unknown[])}) is not true end)`
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
  const isEqual = sql`${field.value} = ${text}`
  return isLikeJson(text) ? sql`(${isEqual} and ${field.type} = 'text')` : sql`(${isEqual})`
}

function differs(field: DataField, value: unknown): SQL {
  const isScalar = sql`${field.type} not in ('array', 'object')`
  const isPlainText = typeof value === 'string' && parseDataDate(value) === undefined
  return isPlainText
    ? sql`(${field.value} <> ${value} and ${isScalar})`
    : sql`(${field.value} is not null and not ${equals(field, value)} and ${isScalar})`
}

function isLikeJson(text: string): boolean {
  return text.startsWith('[') || text.startsWith('{')
}

/** The type is compared as well for 0 and 1, because SQLite returns true and false as 1 and 0. */
function equalsNumber(field: DataField, value: number): SQL {
  const isEqual = sql`${field.value} = ${jsonNumber(value)}`
  return value === 0 || value === 1 ? sql`(${isEqual} and ${isNumber(field)})` : sql`(${isEqual})`
}

function isOnDay({ value }: DataField, day: string): SQL {
  return sql`(${value} = ${day} or ${startsWith(value, `${day}T`)})`
}

/**
 * Whether a text contains the part, or a list has the part as an element. Most values lack the
 * part, so the cheap search in the value's text comes first (the text of a list is its JSON). A
 * part with characters that JSON escapes looks different in JSON, so the type of the value is
 * compared first.
 */
function hasPart(field: DataField, part: unknown): SQL {
  const text = String(part)
  const isSpelledAlike = JSON.stringify(text) === `"${text}"`
  const isText = contains(field.value, text)
  const isElement = hasElement(field, [part])
  return isSpelledAlike
    ? sql`(${isText} and case ${field.type} when 'text' then 1 when 'array' then ${isElement} end)`
    : sql`(case ${field.type} when 'text' then ${isText} when 'array' then ${isElement} end)`
}

/**
 * Whether a scalar equals one of the values and has its type. A date equals every time of its day.
 */
function isOneOf(field: DataField, values: readonly unknown[]): SQL {
  const { texts, days, numbers, booleans } = sortValues(values)
  const terms = [
    ...(texts.length === 0
      ? []
      : [sql`(${field.value} in ${listOf(texts)} and ${field.type} = 'text')`]),
    ...(days.length === 0
      ? []
      : [
          sql`(${firstCharacters(field.value, DAY_LENGTH)} in ${listOf(days)} and ${isDate(field)})`,
        ]),
    ...(numbers.length === 0
      ? []
      : [sql`(${field.value} in ${listOf(numbers)} and ${isNumber(field)})`]),
    ...booleans.map((each) => equals(field, each)),
  ]
  return sql.join(terms, sql` or `)
}

/**
 * Whether a list has one of the values. Use it as the last term: the JSON of a list never equals a
 * value.
 */
function isListWithOneOf(field: DataField, values: readonly unknown[]): SQL {
  return sql`(${field.type} = 'array' and ${hasElement(field, values)})`
}

/** Whether a list has one of the values as an element of the same type. */
function hasElement({ key }: DataField, values: readonly unknown[]): SQL {
  const { strings, numbers, booleans } = sortValues(values)
  const terms = [
    ...(strings.length === 0 ? [] : [sql`(value in ${listOf(strings)} and type = 'text')`]),
    ...(numbers.length === 0
      ? []
      : [sql`(value in ${listOf(numbers)} and type in ('integer', 'real'))`]),
    ...booleans.map((each) => sql`type = ${String(each)}`),
  ]
  const isOne = sql.join(terms, sql` or `)
  return sql`exists (select 1 from ${eachElement(contacts.data, key)} where ${isOne})`
}

/** Sorts values by type. `strings`: all texts. `days`: the UTC days of the texts that are dates. */
function sortValues(values: readonly unknown[]) {
  const strings = values.filter((value) => typeof value === 'string')
  const dates = strings.map((text) => parseDataDate(text))
  return {
    strings,
    texts: strings.filter((_, index) => dates[index] === undefined),
    days: [...new Set(dates.flatMap((date) => (date === undefined ? [] : [dayOf(date)])))],
    numbers: values.filter((value) => typeof value === 'number'),
    booleans: [...new Set(values.filter((value) => typeof value === 'boolean'))],
  }
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
