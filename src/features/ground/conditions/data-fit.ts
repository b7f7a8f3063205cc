/**
 * Finds the values of contact data that a filter cannot judge, because their type does not fit the operator.
 * A contact with such a value matches neither the filter nor its opposite, nor the negation of a condition
 * with the filter. The operators cannot judge these values:
 *
 *   equals, notEquals           lists and objects
 *   in, notIn                   objects
 *   contains, notContains       numbers, booleans and objects
 *   greaterThan, lessThan, …    all but numbers beside a number, all but texts beside a text
 *   within, olderThan           what does not have the shape of a date
 */
import type { OperatorOf } from '../../../records/operators.ts'
import { hasDateShape, jsonType, jsonValue } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { type Condition, listFilters } from './condition.ts'
import { parseConditionField } from './field.ts'
import type { ReferencedSegments } from './referenced-segments.ts'

export type DataType = 'text' | 'number' | 'boolean' | 'list' | 'object'

const STORED_TYPES: Readonly<Record<DataType, readonly string[]>> = {
  text: ['text'],
  number: ['integer', 'real'],
  boolean: ['true', 'false'],
  list: ['array'],
  object: ['object'],
}

type JudgedData = { key: string; operator: OperatorOf<'data'>; value: unknown }

/**
 * `mayLack`: a filter of the condition, or of a segment in it, may meet a value that it cannot
 * judge. `filters`: how many filters must be compiled to find the contacts with such values, those
 * of segments included. `depth`: how many segments enclose the innermost filter.
 */
export type DataFit = { mayLack: boolean; filters: number; depth: number }

const OF_ROWS: DataFit = { mayLack: false, filters: 1, depth: 0 }

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
 * Returns an SQL expression that is 1 for a row of `contacts` whose value the filter cannot judge,
 * else 0 or null; undefined if the filter can judge every value.
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

/**
 * Returns a function that tells how conditions fit the data. The function visits each segment once;
 * the segments have no loops.
 */
export function createDataFit(segments: ReferencedSegments): (condition: Condition) => DataFit {
  const known = new Map<string, DataFit>()

  function ofSegment(id: string): DataFit {
    const segment = segments.get(id)
    if (segment?.condition === undefined) return OF_ROWS
    const found = known.get(id) ?? ofCondition(segment.condition)
    known.set(id, found)
    if (segment.hasMembers && !found.mayLack) return OF_ROWS
    return { ...found, depth: found.depth + 1 }
  }

  function ofCondition(condition: Condition): DataFit {
    const sum: DataFit = { mayLack: false, filters: 0, depth: 0 }
    for (const filter of listFilters(condition)) {
      const { operator, value } = filter
      const parsed = parseConditionField(filter)
      const judged = { operator: operator as OperatorOf<'data'>, value }
      const isData = parsed?.kind === 'data'
      const mayLack = isData && isUnfit({ key: parsed.key, ...judged }) !== undefined
      const own = parsed?.kind === 'segment' ? ofSegment(parsed.id) : { ...OF_ROWS, mayLack }
      sum.mayLack ||= own.mayLack
      sum.filters += own.filters
      sum.depth = Math.max(sum.depth, own.depth)
    }
    return sum
  }

  return ofCondition
}
