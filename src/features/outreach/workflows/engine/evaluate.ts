/**
 * The operators of CONDITION. They compare strictly: the text "1" does not equal the
 * number 1. Texts compare case-sensitively, except addresses. A missing value fulfils only `notExists`,
 * and `equals` if null or nothing is expected. A value of a type that the operator cannot judge fulfils
 * neither the operator nor its opposite.
 *
 * They agree with the filters of contact data (`conditions/data-filter.ts`), with three differences:
 * operators on numbers convert texts and booleans, `equals` takes dates as texts, and null may be expected.
 */
import { isDeepStrictEqual } from 'node:util'
import { type DataType, unfitTypes } from '../../../ground/conditions/data-fit.ts'
import { isNumericOperator } from '../graph/condition-config.ts'
import type { ConditionConfig, ConditionOperator } from '../graph/step-config.ts'

type Test = { operator: ConditionOperator; value?: unknown }

/** Returns the branch that a value leads to: yes or no, or the id of a branch, or `default`. */
export function chooseBranch(config: ConditionConfig, actual: unknown): string {
  const isAddress = config.field === 'contact.email'
  if (config.mode !== 'multi') {
    return isFulfilled(config, actual, isAddress) ? 'yes' : branchOfNone(config)
  }
  const fitting = config.branches.find((branch) => isFulfilled(branch, actual, isAddress))
  return fitting?.id ?? branchOfNone(config)
}

/** Returns the branch of a question that has no answer. */
export function branchOfNone({ mode }: ConditionConfig): string {
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

/** NaN, to which `compare` says no, stands for what is no number. */
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

/** A text contains a part; a list contains an element. */
function doesContain(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(actual)) return actual.includes(expected)
  return String(actual).includes(String(expected))
}

/** One of the elements is enough in a list. */
function isOneOf(actual: unknown, expected: unknown): boolean {
  const values = Array.isArray(expected) ? expected : []
  return Array.isArray(actual)
    ? actual.some((each) => values.includes(each))
    : values.includes(actual)
}

/** NaN for what is no number: lists, objects, null and blank texts. */
function toNumber(value: unknown): number {
  if (typeof value === 'object') return Number.NaN
  return typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
}

function lowerCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCased)
  return typeof value === 'string' ? value.toLowerCase() : value
}
