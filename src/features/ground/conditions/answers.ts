/**
 * Whether a condition has an answer for every contact, and what it takes to ask for it: a filter may meet a value
 * that it cannot judge (`data-fit.ts`), also by way of segments.
 */

import type { OperatorOf } from '../../../records/operators.ts'
import { type Condition, listFilters } from './condition.ts'
import { isUnfit } from './data-fit.ts'
import { parseField } from './field.ts'
import type { ReferencedSegments } from './referenced-segments.ts'

/** `filters`, `depth`: those that are compiled to ask, with those of segments; segments around the innermost one. */
export type Answers = { mayLack: boolean; filters: number; depth: number }

const OF_ROWS: Answers = { mayLack: false, filters: 1, depth: 0 }

/** Returns a function that looks at each segment once. The segments have no loops. */
export function createAnswers(segments: ReferencedSegments): (condition: Condition) => Answers {
  const known = new Map<string, Answers>()

  function ofSegment(id: string): Answers {
    const segment = segments.get(id)
    if (segment?.condition === undefined) return OF_ROWS
    const found = known.get(id) ?? ofCondition(segment.condition)
    known.set(id, found)
    if (segment.hasMembers && !found.mayLack) return OF_ROWS
    return { ...found, depth: found.depth + 1 }
  }

  function ofCondition(condition: Condition): Answers {
    const sum: Answers = { mayLack: false, filters: 0, depth: 0 }
    for (const filter of listFilters(condition)) {
      const { operator, value } = filter
      const parsed = parseField(filter)
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
