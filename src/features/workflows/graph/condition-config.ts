/**
 * The config of a CONDITION (contract 5.5): one field, compared once (`yes`, `no`) or by up to twenty
 * branches. A field is a path of own properties:
 *
 *   contact.email, contact.subscribed
 *   data.<path>, contact.data.<path>   the data of the contact
 *   event.<path>, workflow.<path>      the context of the execution
 *   email.<activity>                   what happened to the mail of the step `stepId`; without it, to
 *                                      any mail of the contact
 *
 * Any other field is stored too: a question for it has no answer, and `validate` says so.
 */

import { storedEventName } from '../../conditions/field.ts'
import { MAX_VALUES } from '../../conditions/filter.ts'
import { MAIL_EVENTS } from '../../events/mail-events.ts'
import { MAX_BRANCH_TEXT_LENGTH, MAX_BRANCHES, MAX_FIELD_LENGTH } from '../limits.ts'
import { type ConfigFields, isObject, readFields, readUuid, typeName } from './config-fields.ts'
import {
  type BinaryCondition,
  CONDITION_OPERATORS,
  type ConditionBranch,
  type ConditionConfig,
  type ConditionOperator,
  type MultiCondition,
} from './step-config.ts'

/** The branch of a multi condition that is taken when no other fits. */
export const DEFAULT_BRANCH = 'default'

/** By the names under which events are stored. */
const EMAIL_EVENTS: readonly string[] = [...MAIL_EVENTS, 'email.received']
const PATH_PREFIXES: readonly string[] = ['data.', 'contact.data.', 'event.', 'workflow.']
const PROTOTYPE_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype']
const NUMERIC_OPERATORS = [
  'greaterThan',
  'lessThan',
  'greaterThanOrEqual',
  'lessThanOrEqual',
] as const satisfies ConditionOperator[]

export function readCondition(fields: ConfigFields): ConditionConfig {
  const mode = fields.choice('mode', ['binary', 'multi'])
  const field = readField(fields)
  const stepId = readUuid(fields, 'stepId')
  if (fields.get('stepId') !== undefined && !field.startsWith('email.')) {
    fields.fail('stepId', 'custom', 'Only a field email.<activity> takes a step')
  }
  const shared = { field, ...(stepId === undefined ? {} : { stepId }) }
  if (mode === 'multi') {
    return { mode, ...shared, branches: readBranches(fields) } satisfies MultiCondition
  }
  const comparison = readComparison(fields)
  return { ...(mode && { mode }), ...shared, ...comparison } satisfies BinaryCondition
}

/** The branches of a CONDITION, in order. */
export function branchesOf(config: ConditionConfig): string[] {
  if (config.mode !== 'multi') return ['yes', 'no']
  return [...config.branches.map(({ id }) => id), DEFAULT_BRANCH]
}

/** Whether the field can have a value. */
export function isKnownField(field: string): boolean {
  if (field === 'contact.email' || field === 'contact.subscribed') return true
  if (field.startsWith('email.')) return EMAIL_EVENTS.includes(storedEventName(field))
  return PATH_PREFIXES.some((prefix) => field.startsWith(prefix) && field.length > prefix.length)
}

export function isNumericOperator(
  operator: ConditionOperator,
): operator is (typeof NUMERIC_OPERATORS)[number] {
  return (NUMERIC_OPERATORS as readonly string[]).includes(operator)
}

/** The field; '' if it is wrong. */
function readField(fields: ConfigFields): string {
  const field = fields.text('field', { max: MAX_FIELD_LENGTH, isRequired: true }) ?? ''
  if (!field.split('.').some((name) => PROTOTYPE_NAMES.includes(name))) return field
  fields.fail('field', 'custom', `A path may not contain ${PROTOTYPE_NAMES.join(', ')}`)
  return ''
}

type Comparison = { operator: ConditionOperator; value?: unknown }

function readComparison(fields: ConfigFields): Comparison {
  const operator = fields.choice('operator', CONDITION_OPERATORS, { isRequired: true })
  if (operator === undefined) return { operator: 'exists' }
  if (operator === 'exists' || operator === 'notExists') return { operator }
  if (!Object.hasOwn(fields.values, 'value')) {
    fields.fail('value', 'invalid_type', 'Required')
    return { operator }
  }
  const { value } = fields.values
  if (operator === 'in' || operator === 'notIn') return { operator, value: readValues(fields) }
  if (value === null || isScalar(value)) return { operator, value }
  const received = typeName(value)
  const message = `Expected string, number, boolean or null, received ${received}`
  fields.fail('value', 'invalid_type', message)
  return { operator }
}

function readValues(fields: ConfigFields): unknown[] {
  const { value } = fields.values
  if (!Array.isArray(value)) {
    fields.fail('value', 'invalid_type', `Expected array, received ${typeName(value)}`)
    return []
  }
  if (value.length === 0) fields.fail('value', 'too_small', 'At least one value')
  if (value.length > MAX_VALUES) fields.fail('value', 'too_big', `At most ${MAX_VALUES} values`)
  for (const [index, each] of value.entries()) {
    if (isScalar(each)) continue
    const message = `Expected string, number or boolean, received ${typeName(each)}`
    fields.fail(`value.${index}`, 'invalid_type', message)
    break
  }
  return value
}

function isScalar(value: unknown): boolean {
  const isNumber = typeof value === 'number' && Number.isFinite(value)
  return isNumber || typeof value === 'string' || typeof value === 'boolean'
}

function readBranches(fields: ConfigFields): ConditionBranch[] {
  const branches = fields.get('branches')
  if (!Array.isArray(branches)) {
    const received = branches === undefined ? 'Required' : 'Expected array'
    fields.fail('branches', 'invalid_type', received)
    return []
  }
  if (branches.length === 0) fields.fail('branches', 'too_small', 'At least one branch')
  if (branches.length > MAX_BRANCHES) {
    fields.fail('branches', 'too_big', `At most ${MAX_BRANCHES} branches`)
    return []
  }
  const taken = new Set<string>()
  return branches.flatMap((branch, index) => {
    if (!isObject(branch)) {
      fields.fail(`branches.${index}`, 'invalid_type', 'Expected object')
      return []
    }
    return [readBranch(readFields(branch, fields.at(`branches.${index}`), fields.errors), taken)]
  })
}

function readBranch(fields: ConfigFields, taken: Set<string>): ConditionBranch {
  const rule = { max: MAX_BRANCH_TEXT_LENGTH, isRequired: true }
  const id = fields.text('id', rule) ?? ''
  const name = fields.text('name', rule) ?? ''
  if (id === DEFAULT_BRANCH) {
    fields.fail('id', 'custom', `"${DEFAULT_BRANCH}" is the branch for all other values`)
  } else if (id !== '' && taken.has(id)) {
    fields.fail('id', 'custom', 'Another branch has this id')
  }
  taken.add(id)
  return { id, name, ...readComparison(fields) }
}
