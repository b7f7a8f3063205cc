/**
 * CONDITION: chooses a branch by the value of a field. `email.received` means mail of a person.
 *
 * The operators compare strictly: the text "1" does not equal the number 1. Texts compare
 * case-sensitively, except addresses. A missing value fulfils only `notExists`, and `equals` if
 * null or no value is expected. A value of a type that the operator cannot judge fulfils neither
 * the operator nor its opposite.
 *
 * The operators agree with the filters of contact data (`conditions/data-filter.ts`), except for
 * three differences: operators on numbers convert texts and booleans, `equals` takes dates as
 * texts, and null may be expected.
 */
import { isDeepStrictEqual } from 'node:util'
import { type SQL, sql } from '../../../../../store/drizzle.ts'
import type { Contact } from '../../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import { isAutomaticRow } from '../../../../ground/conditions/automatic-mail.ts'
import { type DataType, unfitTypes } from '../../../../ground/conditions/data-fit.ts'
import { storedEventName } from '../../../../ground/conditions/field.ts'
import { isKnownField, isNumericOperator } from '../../graph/condition-config.ts'
import type { WorkflowGraph } from '../../graph/graph.ts'
import type { ConditionConfig, ConditionOperator, StepOf } from '../../graph/step-config.ts'
import type { StepCall, StepOutcome, WalkingExecution } from '../walk.ts'
import { findEmailOfStep } from './send-email.ts'

/** By event: the SQL condition by which the row of an email says that the event has happened. */
const DONE: Readonly<Record<string, SQL>> = {
  'email.sent': sql`sent_at is not null`,
  'email.delivery': sql`delivered_at is not null`,
  'email.open': sql`opened_at is not null`,
  'email.click': sql`clicked_at is not null`,
  'email.bounce': sql`bounced_at is not null`,
  'email.complaint': sql`complained_at is not null`,
  'email.failed': sql`state = 'failed'`,
  'email.suppressed': sql`state = 'suppressed'`,
}

const findDone = Object.fromEntries(
  Object.entries(DONE).map(([name, isDone]) => [
    name,
    statement<{ id: string }>(
      () => sql`select id from emails where id = ${parameter('emailId')} and ${isDone}`,
    ),
  ]),
)

const hasEvent = statement<{ seq: number }>(
  () => sql`select seq from events where contact_id = ${parameter('contactId')}
      and name = ${parameter('name')}
      and (name <> 'email.received' or not ${isAutomaticRow}) limit 1`,
)

const findOfCampaign = statement<{ id: string }>(
  () => sql`select id from emails where campaign_id = ${parameter('campaignId')}
      and contact_id = ${parameter('contactId')}`,
)

type Test = { operator: ConditionOperator; value?: unknown }

/** The source of fields. `context`: the data of the event or request that started the execution. */
type FieldScope = {
  contact: Pick<Contact, 'address' | 'subscribed' | 'data'>
  context: Record<string, unknown> | null
}

export async function branch(
  tx: Tx,
  { step: { config }, execution, graph }: StepCall<StepOf<'CONDITION'>>,
): Promise<StepOutcome> {
  const { field } = config
  const value = field.startsWith('email.')
    ? await hasHappened(tx, config, execution)
    : fieldValue(execution, field)
  const chosen = hasAnswer(config, graph) ? chooseBranch(config, value) : branchOfNone(config)
  return {
    kind: 'done',
    branch: chosen,
    input: { field, value: shown(value) },
    output: { branch: chosen },
  }
}

/**
 * Whether the condition can be answered: not if its field does not exist, or if it asks about the
 * mail of a step that was deleted.
 */
function hasAnswer({ field, stepId }: ConditionConfig, { steps }: WorkflowGraph): boolean {
  return isKnownField(field) && (stepId === undefined || steps.has(stepId))
}

/**
 * Returns true if the contact has had the event, and undefined otherwise. If the condition names a
 * step or a campaign, only the event of its email counts.
 */
async function hasHappened(
  tx: Tx,
  { field, stepId, campaignId }: ConditionConfig,
  execution: WalkingExecution,
): Promise<true | undefined> {
  const name = storedEventName(field)
  if (stepId === undefined && campaignId === undefined) {
    const found = await tx.find(hasEvent, { contactId: execution.contact.id, name })
    return found === undefined ? undefined : true
  }
  const emailId =
    stepId === undefined
      ? (await tx.find(findOfCampaign, { campaignId, contactId: execution.contact.id }))?.id
      : await findEmailOfStep(tx, execution, stepId)
  const isDone = findDone[name]
  if (emailId === undefined || isDone === undefined) return undefined
  return (await tx.find(isDone, { emailId })) === undefined ? undefined : true
}

const MAX_SHOWN_LENGTH = 1_000

/**
 * Returns the value for the step's stored input. A long value is cut, because each step of each
 * execution stores its input.
 */
function shown(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value !== 'string' && typeof value !== 'object') return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= MAX_SHOWN_LENGTH) return value
  return `${text.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…`
}

/** Returns the branch that a value leads to: yes or no, or the id of a branch, or `default`. */
export function chooseBranch(config: ConditionConfig, actual: unknown): string {
  const isAddress = config.field === 'contact.email'
  if (config.mode !== 'multi') {
    return isFulfilled(config, actual, isAddress) ? 'yes' : branchOfNone(config)
  }
  const fitting = config.branches.find((branch) => isFulfilled(branch, actual, isAddress))
  return fitting?.id ?? branchOfNone(config)
}

/**
 * Returns the branch that is taken when no comparison is fulfilled, or when the condition cannot be
 * answered.
 */
function branchOfNone({ mode }: ConditionConfig): string {
  return mode === 'multi' ? 'default' : 'no'
}

function isFulfilled(test: Test, given: unknown, isAddress: boolean): boolean {
  const { operator } = test
  const actual = given ?? null
  if (operator === 'exists') return actual !== null
  if (operator === 'notExists') return actual === null
  const expected = isAddress ? lowerCased(test.value ?? null) : (test.value ?? null)
  if (operator === 'equals' && actual === null) return expected === null
  if (actual === null || !canJudge(operator, actual, expected)) return false
  switch (operator) {
    case 'equals':
      return isDeepStrictEqual(actual, expected)
    case 'notEquals':
      return !isDeepStrictEqual(actual, expected)
    case 'contains':
      return doesContain(actual, expected)
    case 'notContains':
      return !doesContain(actual, expected)
    case 'in':
      return isOneOf(actual, expected)
    case 'notIn':
      return !isOneOf(actual, expected)
    default:
      return compare(operator, toNumber(actual), toNumber(expected))
  }
}

/**
 * Whether the operator can judge the value. Operators on numbers judge any value: a value that is
 * no number becomes NaN, which fulfils no comparison.
 */
function canJudge(operator: ConditionOperator, actual: unknown, value: unknown): boolean {
  if (isNumericOperator(operator)) return true
  return !unfitTypes({ operator, value }).includes(typeOf(actual))
}

function typeOf(value: unknown): DataType {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'boolean' : 'object'
}

type NumericOperator = 'greaterThan' | 'lessThan' | 'greaterThanOrEqual' | 'lessThanOrEqual'

function compare(operator: NumericOperator, actual: number, expected: number): boolean {
  switch (operator) {
    case 'greaterThan':
      return actual > expected
    case 'lessThan':
      return actual < expected
    case 'greaterThanOrEqual':
      return actual >= expected
    case 'lessThanOrEqual':
      return actual <= expected
  }
}

/** Whether a text contains `expected` as a part, or a list contains it as an element. */
function doesContain(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(actual)) return actual.includes(expected)
  return String(actual).includes(String(expected))
}

/** Whether the value is one of the expected values. For a list, one such element is enough. */
function isOneOf(actual: unknown, expected: unknown): boolean {
  const values = Array.isArray(expected) ? expected : []
  return Array.isArray(actual)
    ? actual.some((each) => values.includes(each))
    : values.includes(actual)
}

/**
 * Converts a value to a number. A value that is no number becomes NaN, as do lists, objects, null
 * and blank texts.
 */
function toNumber(value: unknown): number {
  if (typeof value === 'object') return Number.NaN
  return typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
}

function lowerCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCased)
  return typeof value === 'string' ? value.toLowerCase() : value
}

/**
 * Returns the value of a field: `contact.email`, `contact.subscribed`, `data.<path>`,
 * `contact.data.<path>`, `event.<path>` or `workflow.<path>`; undefined for a missing value and for
 * a field that does not exist. The parts of a path are separated by dots, and name own properties
 * only. A key may contain dots itself: then the rest of the path is this key.
 */
export function fieldValue({ contact, context }: FieldScope, field: string): unknown {
  if (field === 'contact.email') return contact.address
  if (field === 'contact.subscribed') return contact.subscribed
  const found = /^(contact\.data|data|event|workflow)\.(.+)$/s.exec(field)
  if (found === null) return undefined
  const [, root, path = ''] = found
  return valueAt(root === 'event' || root === 'workflow' ? context : contact.data, path)
}

function valueAt(root: unknown, path: string): unknown {
  if (typeof root !== 'object' || root === null) return undefined
  if (Array.isArray(root) && !/^\d/.test(path)) return undefined
  if (Object.hasOwn(root, path)) return root[path as keyof typeof root]
  const dot = path.indexOf('.')
  const key = path.slice(0, Math.max(0, dot))
  if (dot < 0 || !Object.hasOwn(root, key)) return undefined
  return valueAt(root[key as keyof typeof root], path.slice(dot + 1))
}
