/**
 * The config of a CONDITION: one field, compared once (`yes`, `no`) or by up to twenty
 * branches. A field is a path of own properties:
 *
 *   contact.email, contact.subscribed
 *   data.<path>, contact.data.<path>   the data of the contact
 *   event.<path>, workflow.<path>      the context of the execution
 *   email.<activity>                   what happened to the mail of the step `stepId`, or of the campaign
 *                                      `campaignId`; without them, to any mail of the contact
 *
 * Any other field is refused. A condition with another field that was stored earlier cannot be
 * answered, and `validate` says so.
 *
 * Also finds comparisons that no value of the field fulfils. Values in the data of
 * contacts may have any type.
 */
import { MAX_FILTER_VALUES } from '../../../../records/limits.ts'
import {
  explainUnknown,
  isMailActivity,
  storedEventName,
} from '../../../ground/conditions/field.ts'
import { shortenForError, suggest } from '../../../ground/conditions/field-errors.ts'
import { faultInServiceName } from '../../../ground/conditions/service-name.ts'
import { MAIL_EVENTS } from '../../../ground/events/reserved.ts'
import { MAX_BRANCH_TEXT_LENGTH, MAX_BRANCHES, MAX_FIELD_LENGTH } from '../limits.ts'
import {
  type ConfigFields,
  isObject,
  readConfigFields,
  readUuid,
  typeName,
} from './config-fields.ts'
import {
  type BinaryCondition,
  CONDITION_OPERATORS,
  type ConditionBranch,
  type ConditionConfig,
  type ConditionOperator,
  type MultiCondition,
} from './step-config.ts'

/** The branch of a multi condition that is taken when no other fits. */
const DEFAULT_BRANCH = 'default'

/** The stored names of the events that an email can have. */
const EMAIL_EVENTS: readonly string[] = [...MAIL_EVENTS, 'email.received']
const COLUMNS: readonly string[] = ['email', 'subscribed']
const FIELDS: readonly string[] = COLUMNS.map((column) => `contact.${column}`)
const FORMS = [...FIELDS, 'data.<path>', 'event.<path>', 'workflow.<path>', 'email.<activity>']
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
  const campaignId = readUuid(fields, 'campaignId')
  if (fields.get('campaignId') !== undefined && !isMailActivity(storedEventName(field))) {
    fields.fail('campaignId', 'custom', 'Only email.sent to email.complained take a campaign')
  }
  if (stepId !== undefined && campaignId !== undefined) {
    fields.fail('campaignId', 'custom', 'Either a step or a campaign')
  }
  const shared = {
    field,
    ...(stepId === undefined ? {} : { stepId }),
    ...(campaignId === undefined ? {} : { campaignId }),
  }
  if (mode === 'multi') {
    return { mode, ...shared, branches: readBranches(fields, field) } satisfies MultiCondition
  }
  const comparison = readComparison(fields, field)
  return { ...(mode && { mode }), ...shared, ...comparison } satisfies BinaryCondition
}

/** Returns the branches of a CONDITION, in order. */
export function branchesOf(config: ConditionConfig): string[] {
  if (config.mode !== 'multi') return ['yes', 'no']
  return [...config.branches.map(({ id }) => id), DEFAULT_BRANCH]
}

/** Whether the field can have a value. */
export function isKnownField(field: string): boolean {
  if (FIELDS.includes(field)) return true
  if (field.startsWith('email.')) return EMAIL_EVENTS.includes(storedEventName(field))
  return PATH_PREFIXES.some((prefix) => field.startsWith(prefix) && field.length > prefix.length)
}

export function isNumericOperator(
  operator: ConditionOperator,
): operator is (typeof NUMERIC_OPERATORS)[number] {
  return (NUMERIC_OPERATORS as readonly string[]).includes(operator)
}

/** Reads the field; '' if it is wrong. */
function readField(fields: ConfigFields): string {
  const field = fields.text('field', { max: MAX_FIELD_LENGTH, isRequired: true })
  if (field === undefined) return ''
  const fault = faultOfField(field)
  if (fault === undefined) return field
  fields.fail('field', 'custom', fault)
  return ''
}

function faultOfField(field: string): string | undefined {
  if (field.split('.').some((name) => PROTOTYPE_NAMES.includes(name))) {
    return `A path may not contain ${PROTOTYPE_NAMES.join(', ')}`
  }
  if (isKnownField(field)) return undefined
  if (field.startsWith('email.')) return faultInServiceName(field)
  if (COLUMNS.includes(field)) return `Expected contact.${field}`
  const shown = shortenForError(field)
  const rest = shown.startsWith('contact.') ? shown.slice('contact.'.length) : shown
  const close = suggest(rest, COLUMNS).replace('"', '"contact.')
  if (close !== '') return `Unknown field; expected one of ${FORMS.join(', ')}.${close}`
  const prefixes = PATH_PREFIXES.map((prefix) => prefix.slice(0, -1))
  return explainUnknown(rest, { forms: FORMS, columns: FIELDS, prefixes, isData: true })
}

type Comparison = { operator: ConditionOperator; value?: unknown }

function readComparison(fields: ConfigFields, field: string): Comparison {
  const operator = fields.choice('operator', CONDITION_OPERATORS, { isRequired: true })
  // A value without use is no fault: editors keep the value of a condition whose operator takes
  // none.
  fields.get('value')
  if (operator === undefined) return { operator: 'exists' }
  if (operator === 'exists' || operator === 'notExists') return { operator }
  if (!Object.hasOwn(fields.values, 'value')) {
    fields.fail('value', 'invalid_type', 'Required')
    return { operator }
  }
  const isClaim = field === 'contact.subscribed' || field.startsWith('email.')
  if (operator === 'in' || operator === 'notIn') {
    const values = readValues(fields)
    return { operator, value: isClaim ? values.map(toBoolean) : values }
  }
  const value = isClaim ? toBoolean(fields.values.value) : fields.values.value
  if (value === null || isScalar(value)) return { operator, value }
  const received = typeName(value)
  const message = `Expected string, number, boolean or null, received ${received}`
  fields.fail('value', 'invalid_type', message)
  return { operator }
}

/**
 * Turns "true" and "false" into booleans: forms of web pages send these texts for a boolean field.
 */
function toBoolean(value: unknown): unknown {
  return value === 'true' || value === 'false' ? value === 'true' : value
}

function readValues(fields: ConfigFields): unknown[] {
  const { value } = fields.values
  if (!Array.isArray(value)) {
    fields.fail('value', 'invalid_type', `Expected array, received ${typeName(value)}`)
    return []
  }
  if (value.length === 0) fields.fail('value', 'too_small', 'At least one value')
  if (value.length > MAX_FILTER_VALUES)
    fields.fail('value', 'too_big', `At most ${MAX_FILTER_VALUES} values`)
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

function readBranches(fields: ConfigFields, field: string): ConditionBranch[] {
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
    return [
      readBranch(
        readConfigFields(branch, fields.at(`branches.${index}`), fields.errors, fields.readers),
        { field, taken },
      ),
    ]
  })
}

function readBranch(
  fields: ConfigFields,
  { field, taken }: { field: string; taken: Set<string> },
): ConditionBranch {
  const rule = { max: MAX_BRANCH_TEXT_LENGTH, isRequired: true }
  const id = fields.text('id', rule) ?? ''
  const name = fields.text('name', rule) ?? ''
  if (id === DEFAULT_BRANCH) {
    fields.fail('id', 'custom', `"${DEFAULT_BRANCH}" is the branch for all other values`)
  } else if (id !== '' && taken.has(id)) {
    fields.fail('id', 'custom', 'Another branch has this id')
  }
  taken.add(id)
  return { id, name, ...readComparison(fields, field) }
}

type Test = Pick<ConditionBranch, 'operator' | 'value'>

/** `is`: describes the field, to complete a sentence after "which". */
type Misfit = { is: string; fix: string }

/** Returns why no value of the field fulfils the comparison; undefined if some value does. */
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
