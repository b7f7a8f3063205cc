/** Comparisons of a CONDITION that no value of its field fulfils. The values of data may have any type. */
import { isNumericOperator } from './condition-config.ts'
import type { ConditionBranch } from './step-config.ts'

type Test = Pick<ConditionBranch, 'operator' | 'value'>

/** `is`: what the field is, after "which". */
type Misfit = { is: string; fix: string }

/** Undefined if the field has values that fulfil the comparison. */
export function whyNeverTrue(field: string, test: Test): Misfit | undefined {
  if (field === 'contact.email') return isForAddress(test) ? undefined : ADDRESS
  if (field === 'contact.subscribed') return isForClaim(test) ? undefined : CLAIM
  return field.startsWith('email.') && !isForActivity(test) ? ACTIVITY : undefined
}

const ADDRESS: Misfit = { is: 'is a text', fix: 'Compare it with an address or a part of one.' }
const CLAIM: Misfit = { is: 'is true or false', fix: 'Use equals with true or false.' }
const ACTIVITY: Misfit = {
  is: 'is true, or missing if it has not happened',
  fix: 'Use exists or notExists.',
}

function isForAddress({ operator, value }: Test): boolean {
  switch (operator) {
    case 'equals':
    case 'contains':
      return typeof value === 'string'
    case 'in':
      return listOf(value).some((each) => typeof each === 'string')
    default:
      return !isNumericOperator(operator)
  }
}

function isForClaim({ operator, value }: Test): boolean {
  switch (operator) {
    case 'equals':
      return typeof value === 'boolean'
    case 'in':
      return listOf(value).some((each) => typeof each === 'boolean')
    default:
      return operator !== 'contains' && operator !== 'notContains'
  }
}

function isForActivity({ operator, value }: Test): boolean {
  switch (operator) {
    case 'equals':
      return value === true || value === null
    case 'in':
      return listOf(value).includes(true)
    case 'notEquals':
      return value !== true
    case 'notIn':
      return !listOf(value).includes(true)
    default:
      return operator !== 'contains' && operator !== 'notContains'
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
