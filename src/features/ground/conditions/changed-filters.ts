/**
 * Finds the filters of a condition that may select other contacts under the present rules of filters than
 * under earlier rules. Each version of the rules made a change:
 *
 *   1   `contains` and `notContains` search the elements of lists, and a value that a filter cannot judge
 *       (`data-fit.ts`) no longer matches a negative operator such as `notEquals`
 *   2   `email.received` means mail of a person, not of a machine (`automatic-mail.ts`)
 */

import type { Operator, OperatorOf } from '../../../records/operators.ts'
import { jsonType } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { events } from '../../../store/schema/events.ts'
import { isAutomaticRow, RECEIVED } from './automatic-mail.ts'
import type { Condition } from './condition.ts'
import { isUnfit } from './data-fit.ts'
import { type ConditionField, parseConditionField } from './field.ts'
import type { Filter } from './filter.ts'
import type { ReferencedSegments } from './referenced-segments.ts'

export const FILTER_RULES = 2

type ChangedFilter = { field: string; operator: Operator }

export type ChangedFilters = {
  /** The filters whose result may differ; each pair of field and operator is there once. */
  filters: ChangedFilter[]
  /**
   * An SQL expression that is true for a row of `contacts` that the earlier rules may have judged
   * otherwise.
   */
  isTouched: SQL
}

type FilterWalk = {
  /** The version of the earlier rules. */
  rules: number
  segments: ReferencedSegments
  seen: Set<string>
  found: Map<string, { filter: ChangedFilter; isTouched: SQL }>
}

/**
 * Compares the version `rules` of the rules with the present one. Returns undefined if both select
 * the same contacts. Also looks at the conditions of referenced segments.
 */
export function findChangedFilters(
  condition: Condition,
  { rules, segments }: Pick<FilterWalk, 'rules' | 'segments'>,
): ChangedFilters | undefined {
  const walk: FilterWalk = { rules, segments, seen: new Set(), found: new Map() }
  visit(walk, condition, false)
  const found = [...walk.found.values()]
  if (found.length === 0) return undefined
  const touched = found.map(({ isTouched }) => isTouched)
  const filters = new Map(found.map(({ filter }) => [JSON.stringify(filter), filter]))
  return {
    filters: [...filters.values()],
    // One list of terms for `in`, because a chain of hundreds of OR would be too deep for SQLite.
    isTouched: sql`1 in (${sql.join(touched, sql`, `)})`,
  }
}

function visit(walk: FilterWalk, { groups }: Condition, isNegated: boolean): void {
  for (const { filters, conditions } of groups) {
    for (const filter of filters) visitFilter(walk, filter, isNegated)
    if (conditions !== undefined) visit(walk, conditions, isNegated)
  }
}

function visitFilter(walk: FilterWalk, filter: Filter, isNegated: boolean): void {
  const field = parseConditionField(filter)
  if (field?.kind === 'segment') {
    const segment = walk.segments.get(field.id)
    if (segment?.condition === undefined) return
    const isNegatedThere = isNegated || filter.operator === 'notMemberOfSegment'
    const visitKey = `${isNegatedThere} ${segment.id}`
    if (walk.seen.has(visitKey)) return
    walk.seen.add(visitKey)
    visit(walk, segment.condition, isNegatedThere)
  }
  const isTouched = field && whereChanged(walk, { field, filter, isNegated })
  if (isTouched === undefined) return
  const { field: name, operator } = filter
  walk.found.set(JSON.stringify([filter, isNegated]), {
    filter: { field: name, operator },
    isTouched,
  })
}

function whereChanged(
  { rules }: FilterWalk,
  { field, filter, isNegated }: { field: ConditionField; filter: Filter; isNegated: boolean },
): SQL | undefined {
  if (field.kind === 'data' && rules < 1) return whereJudgedAnew(field.key, filter, isNegated)
  const isReceived = field.kind === 'event' && field.name === RECEIVED
  return isReceived && rules < 2 ? hasAutomaticMail() : undefined
}

function hasAutomaticMail(): SQL {
  return sql`exists (select 1 from ${events} where ${events.contactId} = ${contacts.id}
    and ${events.name} = ${RECEIVED} and ${isAutomaticRow})`
}

function whereJudgedAnew(key: string, filter: Filter, isNegated: boolean): SQL | undefined {
  const operator = filter.operator as OperatorOf<'data'>
  const searchesLists = operator === 'contains' || operator === 'notContains'
  const isNegative = isNegated || operator === 'notContains' || operator === 'notEquals'
  const unfit = isNegative ? isUnfit({ key, operator, value: filter.value }) : undefined
  const type = jsonType(contacts.data, key)
  const isList = sql`${type} = 'array'`
  const terms = [...(searchesLists ? [isList] : []), ...(unfit === undefined ? [] : [unfit])]
  return terms.length === 0 ? undefined : sql`(${sql.join(terms, sql` or `)})`
}
