/**
 * The operators of CONDITION (contract 5.5). They compare strictly: the text "1" does not equal the
 * number 1. Those on numbers convert both sides. Texts compare case-sensitively, except addresses.
 * A missing value fulfils only `notExists`, and `equals` if null or nothing is expected.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ConditionConfig, ConditionOperator } from '../graph/step-config.ts'

type Test = { operator: ConditionOperator; value?: unknown }

/** Returns the branch that a value leads to: yes or no, or the id of a branch, or `default`. */
export function chooseBranch(config: ConditionConfig, actual: unknown): string {
  const isAddress = config.field === 'contact.email'
  if (config.mode !== 'multi') return isFulfilled(config, actual, isAddress) ? 'yes' : 'no'
  const fitting = config.branches.find((branch) => isFulfilled(branch, actual, isAddress))
  return fitting?.id ?? 'default'
}

function isFulfilled(test: Test, given: unknown, isAddress: boolean): boolean {
  const { operator } = test
  const actual = given ?? null
  if (operator === 'exists') return actual !== null
  if (operator === 'notExists') return actual === null
  const expected = isAddress ? lowerCased(test.value ?? null) : (test.value ?? null)
  if (operator === 'equals') return isDeepStrictEqual(actual, expected)
  if (actual === null) return false
  switch (operator) {
    case 'notEquals':
      return !isDeepStrictEqual(actual, expected)
    case 'contains':
      return doesContain(actual, expected)
    case 'notContains':
      return !doesContain(actual, expected)
    default:
      return compare(operator, toNumber(actual), toNumber(expected))
  }
}

function compare(
  operator: Exclude<ConditionOperator, 'exists' | 'notExists' | 'equals'>,
  actual: number,
  expected: number,
): boolean {
  switch (operator) {
    case 'greaterThan':
      return actual > expected
    case 'lessThan':
      return actual < expected
    case 'greaterThanOrEqual':
      return actual >= expected
    case 'lessThanOrEqual':
      return actual <= expected
    default:
      return false
  }
}

/** A text contains a part; a list contains an element. Other values are read as text. */
function doesContain(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(actual)) return actual.some((each) => isDeepStrictEqual(each, expected))
  return toText(actual).includes(toText(expected))
}

/** Values come from strangers: `String` of an object may throw. */
function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** NaN for what is no number: lists, objects, null and blank texts. */
function toNumber(value: unknown): number {
  if (typeof value === 'object') return Number.NaN
  return typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
}

function lowerCased(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value
}
