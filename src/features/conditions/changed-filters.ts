/**
 * The filters of a condition that may select other contacts under the present rules than under those of
 * before, rules 0: there, `contains` and `notContains` took a list for a value without parts, and a value
 * that cannot be judged (`data-fit.ts`) fulfilled what is negative.
 */
import { jsonType } from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { contacts } from '../../store/schema/contacts.ts'
import type { Condition } from './condition.ts'
import { isUnfit } from './data-fit.ts'
import { parseField } from './field.ts'
import type { Filter } from './filter.ts'
import type { Operator, OperatorOf } from './operators.ts'
import type { ReferencedSegments } from './referenced-segments.ts'

export const FILTER_RULES = 1

export type ChangedFilter = { field: string; operator: Operator }

export type ChangedFilters = {
  /** Each field and operator once. */
  filters: ChangedFilter[]
  /** An expression that is true for a row of `contacts` that another rule may decide on. */
  isTouched: SQL
}

type Walk = {
  segments: ReferencedSegments
  seen: Set<string>
  found: Map<string, { filter: ChangedFilter; isTouched: SQL }>
}

/** Returns undefined if the rules select the same contacts. Segments that are referred to count. */
export function findChangedFilters(
  condition: Condition,
  segments: ReferencedSegments,
): ChangedFilters | undefined {
  const walk: Walk = { segments, seen: new Set(), found: new Map() }
  visit(walk, condition, false)
  const found = [...walk.found.values()]
  if (found.length === 0) return undefined
  const touched = found.map(({ isTouched }) => isTouched)
  const filters = new Map(found.map(({ filter }) => [JSON.stringify(filter), filter]))
  return {
    filters: [...filters.values()],
    // A scalar list of terms, because a chain of hundreds of OR would be too deep for SQLite.
    isTouched: sql`1 in (${sql.join(touched, sql`, `)})`,
  }
}

function visit(walk: Walk, { groups }: Condition, isNegated: boolean): void {
  for (const { filters, conditions } of groups) {
    for (const filter of filters) visitFilter(walk, filter, isNegated)
    if (conditions !== undefined) visit(walk, conditions, isNegated)
  }
}

function visitFilter(walk: Walk, filter: Filter, isNegated: boolean): void {
  const field = parseField(filter)
  if (field?.kind === 'segment') {
    const segment = walk.segments.get(field.id)
    if (segment?.condition === undefined) return
    const isNegatedThere = isNegated || filter.operator === 'notMemberOfSegment'
    const visitKey = `${isNegatedThere} ${segment.id}`
    if (walk.seen.has(visitKey)) return
    walk.seen.add(visitKey)
    visit(walk, segment.condition, isNegatedThere)
  }
  if (field?.kind !== 'data') return
  const isTouched = whereChanged(field.key, filter, isNegated)
  if (isTouched === undefined) return
  const { field: name, operator } = filter
  walk.found.set(JSON.stringify([filter, isNegated]), {
    filter: { field: name, operator },
    isTouched,
  })
}

function whereChanged(key: string, filter: Filter, isNegated: boolean): SQL | undefined {
  const operator = filter.operator as OperatorOf<'data'>
  const searchesLists = operator === 'contains' || operator === 'notContains'
  const isNegative = isNegated || operator === 'notContains' || operator === 'notEquals'
  const unfit = isNegative ? isUnfit({ key, operator, value: filter.value }) : undefined
  const type = jsonType(contacts.data, key)
  const isList = sql`${type} = 'array'`
  const terms = [...(searchesLists ? [isList] : []), ...(unfit === undefined ? [] : [unfit])]
  return terms.length === 0 ? undefined : sql`(${sql.join(terms, sql` or `)})`
}
