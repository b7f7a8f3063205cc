/**
 * From a condition to SQL over the rows of `contacts`. All that came from outside is a bound
 * parameter: values, keys of data, names of events, ids.
 *
 * What is cheap to look at stands first, where AND and OR may stop at it: columns, then data, then
 * memberships, then events. Whole conditions of segments come in where they are referred to, so
 * their filters count, too: the statement stays well inside what SQLite takes.
 *
 * Nothing in `is true` is the planner's to rearrange, so every query stays on the index of its own
 * choice; a shortlist (`shortlist.ts`) stands beside it and narrows that index down.
 */
import { AppError } from '../../errors.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { contacts } from '../../store/schema/contacts.ts'
import { segmentMembers } from '../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import { findCandidates } from './candidates.ts'
import type { Condition, Group } from './condition.ts'
import {
  compileEmailFilter,
  compileInstantFilter,
  compileSubscribedFilter,
} from './contact-filter.ts'
import { compileDataFilter } from './data-filter.ts'
import { compileEventFilter } from './event-filter.ts'
import { type ConditionField, parseField } from './field.ts'
import type { Filter } from './filter.ts'
import { type OperatorOf, startOfSpan } from './operators.ts'
import {
  loadReferencedSegments,
  type ReferencedSegment,
  type ReferencedSegments,
  requireSegment,
} from './referenced-segments.ts'

export type ConditionInput = {
  projectId: string
  condition: Condition
  /** The segment that is being defined: a way back to it is a loop. */
  ofSegmentId?: string | undefined
}

const MAX_FILTERS_IN_ALL = 1_000
const MAX_SEGMENT_DEPTH = 10

/** Of looking at one row, next to each other. */
const COSTS = { email: 0.1, subscribed: 0.1, instant: 0.1, data: 1, segment: 2, event: 3 }

/**
 * An expression that is 1 for a row of `contacts` (by this name) that matches and 0 for any other,
 * never null. Windows reach back from now.
 * @throws AppError BAD_REQUEST: a segment that this project does not have, a loop of segments, more
 *   than 1,000 filters or segments 10 deep when those of segments are counted
 */
export async function compileCondition(
  deps: Pick<Base, 'store' | 'now'>,
  { condition, ...of }: ConditionInput,
): Promise<SQL> {
  const segments = await loadReferencedSegments(deps, { condition, ...of })
  const now = deps.now()
  const { expression } = compile({ now, segments, filters: 0, depth: 0 }, condition)
  const isMatch = sql`(${expression}) is true`
  const context = { projectId: of.projectId, now, segments }
  const shortlist = await findCandidates(deps, condition, context)
  return shortlist === undefined
    ? isMatch
    : sql`(${contacts.number} in (${shortlist}) and ${isMatch})`
}

type Compiler = { now: number; segments: ReferencedSegments; filters: number; depth: number }
type Term = { expression: SQL; cost: number }
type SegmentTarget = Extract<ConditionField, { kind: 'segment' }>

function compile(compiler: Compiler, { logic, groups }: Condition): Term {
  const terms = groups.map((group) => compileGroup(compiler, group))
  return join(logic === 'AND' ? sql` and ` : sql` or `, terms)
}

function compileGroup(compiler: Compiler, { filters, conditions }: Group): Term {
  const terms = filters.map((filter) => compileFilter(compiler, filter))
  if (conditions !== undefined) terms.push(compile(compiler, conditions))
  return join(sql` and `, terms)
}

function join(operator: SQL, terms: Term[]): Term {
  const sorted = terms.toSorted((one, other) => one.cost - other.cost)
  const expressions = sorted.map(({ expression }) => expression)
  const cost = sorted.reduce((sum, term) => sum + term.cost, 0)
  return { expression: balance(operator, expressions), cost }
}

/** In halves of halves: a chain of hundreds would be too deep an expression. */
function balance(operator: SQL, expressions: SQL[]): SQL {
  const [only = sql`false`] = expressions
  if (expressions.length < 2) return only
  const middle = Math.ceil(expressions.length / 2)
  const one = balance(operator, expressions.slice(0, middle))
  const other = balance(operator, expressions.slice(middle))
  return sql`(${one}${operator}${other})`
}

function compileFilter(compiler: Compiler, filter: Filter): Term {
  compiler.filters += 1
  if (compiler.filters > MAX_FILTERS_IN_ALL) throw tooMuch(`${MAX_FILTERS_IN_ALL} filters`)
  const target = parseField(filter)
  if (target === undefined) throw new TypeError(`not a field: ${filter.field}`)
  if (target.kind === 'segment') return compileMembership(compiler, filter, target.id)
  return { expression: compileLeaf(compiler, filter, target), cost: COSTS[target.kind] }
}

/** The operator is one that the field takes: `parseCondition` has seen to it. */
function compileLeaf(
  compiler: Compiler,
  filter: Filter,
  target: Exclude<ConditionField, SegmentTarget>,
) {
  const { operator, value } = filter
  const since = startOfSpan(compiler.now, filter)
  switch (target.kind) {
    case 'email':
      return compileEmailFilter(operator as OperatorOf<'email'>, String(value))
    case 'subscribed':
      return compileSubscribedFilter(operator as OperatorOf<'subscribed'>, value)
    case 'instant':
      return compileInstantFilter({
        column: target.column,
        operator: operator as OperatorOf<'instant'>,
        value,
        since,
      })
    case 'data':
      return compileDataFilter({
        key: target.key,
        operator: operator as OperatorOf<'data'>,
        value,
        since,
      })
    case 'event':
      return compileEventFilter({
        name: target.name,
        operator: operator as OperatorOf<'event'>,
        since,
      })
  }
}

function compileMembership(compiler: Compiler, { operator }: Filter, id: string): Term {
  const { expression, cost } = isMember(compiler, requireSegment(compiler.segments, id))
  if (operator === 'memberOfSegment') return { expression, cost }
  return { expression: sql`(${expression}) is not true`, cost }
}

/** Who is in a static or tracked segment is written down; of any other its condition tells. */
function isMember(compiler: Compiler, { id, condition, hasMembers }: ReferencedSegment): Term {
  if (hasMembers) return { expression: isListed(id), cost: COSTS.segment }
  if (condition === undefined) return { expression: sql`false`, cost: 0 }
  if (compiler.depth >= MAX_SEGMENT_DEPTH) throw tooMuch(`segments ${MAX_SEGMENT_DEPTH} deep`)
  compiler.depth += 1
  const term = compile(compiler, condition)
  compiler.depth -= 1
  return term
}

function isListed(segmentId: string): SQL {
  return sql`exists (select 1 from ${segmentMembers}
    where ${segmentMembers.segmentId} = ${segmentId}
    and ${segmentMembers.contactId} = ${contacts.id} and ${segmentMembers.exitedAt} is null)`
}

function tooMuch(what: string): AppError {
  const text = 'The condition and the segments that it refers to are too much together'
  return new AppError('BAD_REQUEST', `${text}: at most ${what} are possible.`)
}
