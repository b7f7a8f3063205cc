/** A filter: a field, an operator that the field allows, and the value that the operator needs. */

import { parseInstant } from '../../../base/clock.ts'
import { tooLongText, wrongOrMissingText, wrongTypeText } from '../../../base/errors.ts'
import { MAX_FILTER_VALUES } from '../../../records/limits.ts'
import {
  isOperator,
  isUnit,
  OPERATORS,
  OPERATORS_BY_KIND,
  type Operator,
  takesList,
  takesNoValue,
  takesSpan,
  UNIT_MS,
  UNITS,
  type Unit,
} from '../../../records/operators.ts'
import {
  type ConditionField,
  describeField,
  explainConditionField,
  isMailActivity,
  parseConditionField,
} from './field.ts'
import {
  type AddError,
  type JsonObject,
  nameType,
  readObject,
  shortenForError,
  suggest,
} from './field-errors.ts'
import { faultInServiceName } from './service-name.ts'

export type Filter = {
  field: string
  operator: Operator
  value?: unknown
  unit?: Unit
  /** For a field `email.<activity>`: counts only what happened to the email of this campaign. */
  campaignId?: string
}

const KEYS = ['field', 'operator', 'value', 'unit', 'campaignId']
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The most characters in the name of a field, and in a text to compare with. */
const MAX_TEXT_LENGTH = 1000
const MAX_SPAN_DAYS = 36_500

/**
 * Parses a filter. A value or a unit that the operator does not use is dropped. Passes errors to
 * `addError` and then returns undefined. A stored filter may name an event that cannot occur.
 */
export function parseFilter(
  addError: AddError,
  value: unknown,
  { isStored }: { isStored: boolean },
): Filter | undefined {
  const fields = readObject(addError, { value, keys: KEYS })
  if (fields === undefined) return undefined
  const field = readFieldText(addError, fields)
  const operator = readOperator(addError, fields)
  const parsedField =
    field === undefined ? undefined : readConditionField(addError, { field, ...fields })
  if (field === undefined || operator === undefined || parsedField === undefined) return undefined
  const fault = parsedField.kind === 'event' && faultInServiceName(parsedField.name)
  if (fault && !isStored) {
    addError('field', 'custom', fault)
    return undefined
  }
  const allowed: readonly Operator[] = OPERATORS_BY_KIND[parsedField.kind]
  if (!allowed.includes(operator)) {
    const kind = describeField(parsedField.kind, field)
    addError('operator', 'invalid_enum_value', `${kind} takes one of ${allowed.join(', ')}`)
    return undefined
  }
  const ofCampaign = readCampaign(addError, parsedField, fields)
  const operand = readOperand(addError, { parsedField, operator, fields })
  return operand && ofCampaign && { field, operator, ...operand, ...ofCampaign }
}

/** Returns an empty object if the filter names no campaign; undefined if the campaign is wrong. */
function readCampaign(
  addError: AddError,
  parsedField: ConditionField,
  { campaignId }: JsonObject,
): Pick<Filter, 'campaignId'> | undefined {
  if (campaignId === undefined || campaignId === null) return {}
  if (parsedField.kind !== 'event' || !isMailActivity(parsedField.name)) {
    addError('campaignId', 'custom', 'Only email.<activity> takes a campaign')
    return undefined
  }
  if (typeof campaignId === 'string' && UUID.test(campaignId)) {
    return { campaignId: campaignId.toLowerCase() }
  }
  addError('campaignId', 'invalid_string', 'Not a UUID')
  return undefined
}

function readFieldText(addError: AddError, { field }: JsonObject): string | undefined {
  if (typeof field === 'string') return isText(addError, 'field', field) ? field : undefined
  addError('field', 'invalid_type', wrongOrMissingText('string', nameType(field)))
  return undefined
}

function readOperator(addError: AddError, { operator }: JsonObject): Operator | undefined {
  if (isOperator(operator)) return operator
  const hint = typeof operator === 'string' ? suggest(operator, OPERATORS) : ''
  const expected = `expected one of ${OPERATORS.join(', ')}.${hint}`
  const code = operator === undefined ? 'invalid_type' : 'invalid_enum_value'
  addError(
    'operator',
    code,
    operator === undefined ? `Required: ${expected}` : `Unknown; ${expected}`,
  )
  return undefined
}

function readConditionField(
  addError: AddError,
  { field, operator }: { field: string; operator?: unknown },
): ConditionField | undefined {
  const parsedField = parseConditionField({ field, operator })
  // Without an operator, a bare name may be the name of an event.
  if (parsedField === undefined && isOperator(operator)) {
    addError('field', 'custom', explainConditionField({ field: shortenForError(field), operator }))
  }
  return parsedField
}

type Operand = Pick<Filter, 'value' | 'unit'>
type OperandInput = { parsedField: ConditionField; operator: Operator; fields: JsonObject }

function readOperand(
  addError: AddError,
  { parsedField, operator, fields }: OperandInput,
): Operand | undefined {
  const { value } = fields
  if (takesNoValue(operator)) {
    if (value === undefined || value === null || value === '' || value === true) return {}
    addError('value', 'custom', `${operator} takes no value`)
    return undefined
  }
  if (value === undefined || value === null) {
    addError(
      'value',
      'invalid_type',
      value === null ? 'Required: a value other than null' : 'Required',
    )
    if (takesSpan(operator)) readUnit(addError, fields)
    return undefined
  }
  if (takesSpan(operator)) return readSpan(addError, fields)
  if (takesList(operator)) return readList(addError, { parsedField, values: value })
  // Web forms send texts. Any value but true and "true" counts as false.
  if (parsedField.kind === 'subscribed') return { value: value === true || value === 'true' }
  const isRight = checkValue(addError, { parsedField, operator, value })
  return isRight ? { value } : undefined
}

type ListInput = { parsedField: ConditionField; values: unknown }

function readList(addError: AddError, { parsedField, values }: ListInput): Operand | undefined {
  if (!Array.isArray(values)) {
    addError('value', 'invalid_type', wrongTypeText('array', nameType(values)))
    return undefined
  }
  if (values.length === 0) addError('value', 'too_small', 'Give at least one value')
  if (values.length > MAX_FILTER_VALUES) {
    addError('value', 'too_big', `At most ${MAX_FILTER_VALUES} values`)
    return undefined
  }
  const areRight = values.map((value, index) => {
    const addAt: AddError = (key, code, message) => addError(`${key}.${index}`, code, message)
    return parsedField.kind === 'email'
      ? checkPart(addAt, value)
      : checkScalar(addAt, { value, takesBoolean: true })
  })
  return values.length > 0 && areRight.every(Boolean) ? { value: values } : undefined
}

function readSpan(addError: AddError, fields: JsonObject): Operand | undefined {
  const { value } = fields
  const unit = readUnit(addError, fields)
  if (typeof value !== 'number') {
    addError('value', 'invalid_type', wrongTypeText('number', nameType(value)))
    return undefined
  }
  if (!Number.isFinite(value) || value < 0) {
    addError('value', 'too_small', 'Must be 0 or more')
    return undefined
  }
  if (unit === undefined) return undefined
  if (value * UNIT_MS[unit] <= MAX_SPAN_DAYS * UNIT_MS.days) return { value, unit }
  addError('value', 'too_big', `Must be at most ${MAX_SPAN_DAYS} days`)
  return undefined
}

function readUnit(addError: AddError, { unit }: JsonObject) {
  if (isUnit(unit)) return unit
  const code = unit === undefined ? 'invalid_type' : 'invalid_enum_value'
  const expected = `expected one of ${UNITS.join(', ')}`
  addError('unit', code, unit === undefined ? `Required: ${expected}` : `Unknown; ${expected}`)
  return undefined
}

type Operation = { parsedField: ConditionField; operator: Operator; value: unknown }

function checkValue(addError: AddError, { parsedField, operator, value }: Operation): boolean {
  if (parsedField.kind === 'instant') return checkInstant(addError, value)
  const isPart = operator === 'contains' || operator === 'notContains'
  if (parsedField.kind === 'email' || (isPart && typeof value === 'string')) {
    return checkPart(addError, value)
  }
  const isEquality = operator === 'equals' || operator === 'notEquals'
  return checkScalar(addError, { value, takesBoolean: isEquality || isPart })
}

function checkInstant(addError: AddError, value: unknown): boolean {
  if (typeof value === 'string' && parseInstant(value) !== undefined) return true
  const text = 'Expected a date such as 2026-01-31 or 2026-01-31T09:30:00.000Z'
  addError('value', typeof value === 'string' ? 'invalid_string' : 'invalid_type', text)
  return false
}

function checkPart(addError: AddError, value: unknown): boolean {
  if (typeof value !== 'string') {
    addError('value', 'invalid_type', wrongTypeText('string', nameType(value)))
    return false
  }
  if (value !== '') return isText(addError, 'value', value)
  addError('value', 'too_small', 'Must not be empty')
  return false
}

function checkScalar(
  addError: AddError,
  { value, takesBoolean }: { value: unknown; takesBoolean: boolean },
): boolean {
  if (typeof value === 'string') return isText(addError, 'value', value)
  if (typeof value === 'number' && Number.isFinite(value)) return true
  if (typeof value === 'boolean' && takesBoolean) return true
  const expected = takesBoolean ? 'string, number or boolean' : 'string or number'
  addError('value', 'invalid_type', wrongTypeText(expected, nameType(value)))
  return false
}

function isText(addError: AddError, key: string, text: string): boolean {
  if (text.length > MAX_TEXT_LENGTH) {
    addError(key, 'too_big', tooLongText(MAX_TEXT_LENGTH))
    return false
  }
  // Refuses lone surrogates, which are no characters, and NUL in a field: SQLite reads a key only
  // up to NUL.
  if (text.isWellFormed() && !(key === 'field' && text.includes('\0'))) return true
  addError(key, 'invalid_string', 'Contains an invalid character')
  return false
}
