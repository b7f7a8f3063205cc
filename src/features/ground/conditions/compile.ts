/**
 * Compiles a condition to an SQL expression over the rows of `contacts`. Everything from outside is
 * a bound parameter: values, keys of data, names of events, ids.
 *
 * A filter that cannot judge a contact's value is neither true nor false (`data-fit.ts`). Neither
 * is a condition whose result depends on this filter. `notMemberOfSegment` negates a whole
 * condition. The expressions below it are exact: 1, 0, or null for a value that cannot be judged.
 * Elsewhere 0 and null both mean no match, which is cheaper.
 *
 * Cheap filters come first, because AND and OR stop early: columns, then data, then memberships,
 * then events. A referenced segment without member rows is replaced by its condition, whose filters
 * count towards the limit, so that the statement stays within the limits of SQLite.
 *
 * `is true` keeps the planner from rearranging the expression, so each query stays on its own
 * index. The candidates (`candidates.ts`) are a second expression, which narrows the index down.
 */
import { AppError } from '../../../base/errors.ts'
import { type OperatorOf, startOfSpan } from '../../../records/operators.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { segmentMembers } from '../../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import { findCandidates } from './candidates.ts'
import type { Condition, ConditionGroup } from './condition.ts'
import {
  compileAddressFilter,
  compileEventFilter,
  compileInstantFilter,
  compileSubscribedFilter,
} from './contact-filter.ts'
import { compileDataFilter } from './data-filter.ts'
import { createDataFit, type DataFit, isUnfit } from './data-fit.ts'
import { type ConditionField, parseConditionField } from './field.ts'
import type { Filter } from './filter.ts'
import {
  loadReferencedSegment,
  loadReferencedSegments,
  type ReferencedSegment,
  type ReferencedSegments,
} from './referenced-segments.ts'

type ConditionInput = {
  projectId: string
  condition: Condition
  /** The segment that the condition belongs to. A reference that leads back to it is a loop. */
  ofSegmentId?: string | undefined
}

const MAX_FILTERS_IN_ALL = 1_000
const MAX_SEGMENT_DEPTH = 10
/**
 * The most filters that are compiled to find contacts without an answer (`isMember`). They have a
 * limit of their own, so that they never cause the refusal of a condition.
 */
const MAX_FILTERS_OF_ANSWERS = 500

/** The relative cost of a filter for one row. */
const COSTS = { email: 0.1, subscribed: 0.1, instant: 0.1, data: 1, segment: 2, event: 3 }

/**
 * Returns an expression that is 1 for a matching row of `contacts` (the table's name in the query),
 * and 0 for any other row, never null. Spans of time (`within`) end at the present time.
 * @throws AppError BAD_REQUEST for an unknown segment, also one that a segment refers to, a segment whose
 *   condition is damaged, a loop of segments, more than 1,000 filters including those of segments, or
 *   segments nested more than 10 deep
 */
export async function compileCondition(
  deps: Pick<Base, 'store' | 'now'>,
  input: ConditionInput,
): Promise<SQL> {
  const { projectId, condition } = input
  const compiler = await createCompiler(deps, input)
  const { expression } = compile(compiler, condition)
  const isMatch = sql`(${expression}) is true`
  const context = { projectId, now: compiler.now, segments: compiler.segments }
  const candidates = await findCandidates(deps, condition, context)
  return candidates === undefined
    ? isMatch
    : sql`(${contacts.number} in (${candidates}) and ${isMatch})`
}

/**
 * Returns the names of negated segments that are judged by their member rows alone. Their
 * conditions are too large or too deep to be compiled for the contacts without an answer as well.
 * @throws AppError as `compileCondition`
 */
export async function findUnasked(
  deps: Pick<Base, 'store' | 'now'>,
  input: ConditionInput,
): Promise<string[]> {
  const compiler = await createCompiler(deps, input)
  compile(compiler, input.condition)
  return [...compiler.unasked.values()]
}

async function createCompiler(
  deps: Pick<Base, 'store' | 'now'>,
  input: ConditionInput,
): Promise<Compiler> {
  const segments = await loadReferencedSegments(deps, input)
  return {
    ...{ now: deps.now(), segments, filters: 0, depth: 0, isExact: false },
    ...{ answersOf: createDataFit(segments), asked: 0, isAnswering: false, unasked: new Map() },
  }
}

type Compiler = {
  now: number
  segments: ReferencedSegments
  /** The number of filters compiled so far. */
  filters: number
  /** The number of segments that enclose the present filter. */
  depth: number
  /** Whether the expression must distinguish 0 from null. */
  isExact: boolean
  answersOf: (condition: Condition) => DataFit
  /**
   * The number of filters compiled to find the contacts for which segments with member rows have no answer.
   */
  asked: number
  /** Whether the present filter is compiled to find contacts without an answer. */
  isAnswering: boolean
  /** The names, by id, of negated segments whose conditions are too large or too deep for this. */
  unasked: Map<string, string>
}
type Term = { expression: SQL; cost: number }
type SegmentField = Extract<ConditionField, { kind: 'segment' }>

function compile(compiler: Compiler, { logic, groups }: Condition): Term {
  const terms = groups.map((group) => compileGroup(compiler, group))
  return join(logic === 'AND' ? sql` and ` : sql` or `, terms)
}

function compileGroup(compiler: Compiler, { filters, conditions }: ConditionGroup): Term {
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

/**
 * Joins the expressions as a balanced tree, because a chain of hundreds would be too deep for
 * SQLite.
 */
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
  const parsedField = parseConditionField(filter)
  if (parsedField === undefined) throw new TypeError(`Unknown field: ${filter.field}`)
  if (parsedField.kind === 'segment') return compileMembership(compiler, filter, parsedField.id)
  const leaf = compileLeaf(compiler, filter, parsedField)
  const expression = compiler.isExact ? toExact(leaf, filter, parsedField) : leaf
  return { expression, cost: COSTS[parsedField.kind] }
}

function toExact(leaf: SQL, { operator, value }: Filter, field: ConditionField): SQL {
  const judged = { operator: operator as OperatorOf<'data'>, value }
  const cannotJudge = field.kind === 'data' ? isUnfit({ key: field.key, ...judged }) : undefined
  const isTrue = sql`(${leaf}) is true`
  return cannotJudge === undefined
    ? sql`(${isTrue})`
    : sql`(case when ${cannotJudge} then null else ${isTrue} end)`
}

/** `parseCondition` has checked that the field allows the operator. */
function compileLeaf(
  compiler: Compiler,
  filter: Filter,
  parsedField: Exclude<ConditionField, SegmentField>,
) {
  const { operator, value } = filter
  const since = startOfSpan(compiler.now, filter)
  switch (parsedField.kind) {
    case 'email':
      return compileAddressFilter(operator as OperatorOf<'email'>, value)
    case 'subscribed':
      return compileSubscribedFilter(operator as OperatorOf<'subscribed'>, value)
    case 'instant':
      return compileInstantFilter({
        column: parsedField.column,
        operator: operator as OperatorOf<'instant'>,
        value,
        since,
      })
    case 'data':
      return compileDataFilter({
        key: parsedField.key,
        operator: operator as OperatorOf<'data'>,
        value,
        since,
      })
    case 'event':
      return compileEventFilter({
        name: parsedField.name,
        operator: operator as OperatorOf<'event'>,
        since,
        campaignId: parsedField.campaignId,
      })
  }
}

function compileMembership(compiler: Compiler, { operator }: Filter, id: string): Term {
  const segment = loadReferencedSegment(compiler.segments, id)
  if (operator === 'memberOfSegment') return isMember(compiler, segment)
  const { isExact } = compiler
  compiler.isExact = true
  const { expression, cost } = isMember(compiler, segment)
  compiler.isExact = isExact
  return { expression: sql`(not (${expression}))`, cost }
}

/**
 * Static segments and segments with membership events have member rows; other segments have a condition.
 * Below a negation, a contact without a member row is unknown if the segment's condition has no answer for
 * the contact. The expression asks for such contacts as far as the limits of answers allow.
 */
function isMember(
  compiler: Compiler,
  { id, name, condition, hasMembers }: ReferencedSegment,
): Term {
  const listed = { expression: isListed(id), cost: COSTS.segment }
  if (condition === undefined) return listed
  if (!hasMembers) return compileBelow(compiler, condition)
  if (!compiler.isExact || !takeAnswer(compiler, { id, name, condition })) return listed
  const { filters, isAnswering } = compiler
  Object.assign(compiler, { filters: 0, isAnswering: true })
  const { expression, cost } = compileBelow(compiler, condition)
  Object.assign(compiler, { filters, isAnswering })
  return {
    expression: sql`(case when ${listed.expression} then 1 when (${expression}) is null then null else 0 end)`,
    cost: listed.cost + cost,
  }
}

function takeAnswer(
  compiler: Compiler,
  { id, name, condition }: { id: string; name: string; condition: Condition },
): boolean {
  const { mayLack, filters, depth } = compiler.answersOf(condition)
  if (!mayLack || compiler.isAnswering) return mayLack
  const isTooDeep = compiler.depth + depth >= MAX_SEGMENT_DEPTH
  if (isTooDeep || compiler.asked + filters > MAX_FILTERS_OF_ANSWERS) {
    compiler.unasked.set(id, name)
    return false
  }
  compiler.asked += filters
  return true
}

function compileBelow(compiler: Compiler, condition: Condition): Term {
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

function tooMuch(limit: string): AppError {
  const text = 'The condition and the segments that it refers to are too large together'
  return new AppError('BAD_REQUEST', `${text}: at most ${limit} are allowed.`)
}
