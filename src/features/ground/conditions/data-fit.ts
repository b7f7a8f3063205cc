/**
 * Which values of contact data a filter cannot judge, because their type does not fit the operator. Such a
 * contact matches neither the filter nor its opposite, nor anything that negates a condition with the
 * filter.
 *
 *   equals, notEquals           lists and objects
 *   in, notIn                   objects
 *   contains, notContains       numbers, booleans and objects
 *   greaterThan, lessThan, …    all but numbers for a number, all but texts for a text
 *   within, olderThan           what does not have the shape of a date
 */

import type { OperatorOf } from '../../../records/operators.ts'
import { hasDateShape, jsonType, jsonValue } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'

export type DataType = 'text' | 'number' | 'boolean' | 'list' | 'object'

const STORED_TYPES: Readonly<Record<DataType, readonly string[]>> = {
  text: ['text'],
  number: ['integer', 'real'],
  boolean: ['true', 'false'],
  list: ['array'],
  object: ['object'],
}

export type JudgedData = { key: string; operator: OperatorOf<'data'>; value: unknown }

/** Returns the types that the operator cannot judge. */
export function unfitTypes({ operator, value }: Omit<JudgedData, 'key'>): readonly DataType[] {
  switch (operator) {
    case 'exists':
    case 'notExists':
      return []
    case 'equals':
    case 'notEquals':
      return ['list', 'object']
    case 'in':
    case 'notIn':
      return ['object']
    case 'contains':
    case 'notContains':
      return ['number', 'boolean', 'object']
    case 'within':
    case 'olderThan':
      return ['number', 'boolean', 'list', 'object']
    default:
      return typeof value === 'number'
        ? ['text', 'boolean', 'list', 'object']
        : ['number', 'boolean', 'list', 'object']
  }
}

/**
 * Returns an expression that is 1 for a row of `contacts` whose value the filter cannot judge, else 0 or
 * null; undefined if the filter can judge every value.
 */
export function isUnfit({ key, ...judged }: JudgedData): SQL | undefined {
  const { operator } = judged
  const types = unfitTypes(judged).flatMap((type) => STORED_TYPES[type])
  if (types.length === 0) return undefined
  const type = jsonType(contacts.data, key)
  if (operator === 'within' || operator === 'olderThan') {
    return sql`(${type} <> 'null' and not ${hasDateShape(jsonValue(contacts.data, key))})`
  }
  const names = sql.join(
    types.map((name) => sql.raw(`'${name}'`)),
    sql`, `,
  )
  return sql`${type} in (${names})`
}
