/** One filter: a field, an operator that it takes, and the value that the operator wants. */
import { parseInstant } from '../../clock.ts'
import { describeField, explainField, readField, type Target } from './field.ts'
import { type Fields, nameType, type Report, readObject, shorten, suggest } from './field-errors.ts'
import type { Unit } from './operators.ts'
import {
  isOperator,
  isUnit,
  type Operator,
  operators,
  operatorsByKind,
  takesNoValue,
  takesSpan,
  unitMs,
  units,
} from './operators.ts'

export type Filter = { field: string; operator: Operator; value?: unknown; unit?: Unit }

/** Of a field, and of a text that it is compared with. */
const MAX_TEXT_LENGTH = 1000
const MAX_SPAN_DAYS = 36_500

/**
 * The filter as it is kept: a field, an operator, and a value and a unit only where they have a
 * meaning. Undefined when something is wrong, which is noted.
 */
export function parseFilter(fault: Report, value: unknown): Filter | undefined {
  const fields = readObject(fault, { value, keys: ['field', 'operator', 'value', 'unit'] })
  if (fields === undefined) return undefined
  const field = readFieldText(fault, fields)
  const operator = readOperator(fault, fields)
  const target = field === undefined ? undefined : readTarget(fault, { field, ...fields })
  if (field === undefined || operator === undefined || target === undefined) return undefined
  const allowed: readonly Operator[] = operatorsByKind[target.kind]
  if (!allowed.includes(operator)) {
    const kind = describeField(target.kind, field)
    fault('operator', 'invalid_enum_value', `${kind} takes one of ${allowed.join(', ')}`)
    return undefined
  }
  const operand = readOperand(fault, { target, operator, fields })
  return operand && { field, operator, ...operand }
}

function readFieldText(fault: Report, { field }: Fields): string | undefined {
  if (typeof field === 'string') return isText(fault, 'field', field) ? field : undefined
  const received = nameType(field)
  const text = received === 'undefined' ? 'Required' : `Expected string, received ${received}`
  fault('field', 'invalid_type', text)
  return undefined
}

function readOperator(fault: Report, { operator }: Fields): Operator | undefined {
  if (isOperator(operator)) return operator
  const hint = typeof operator === 'string' ? suggest(operator, operators) : ''
  const expected = `expected one of ${operators.join(', ')}.${hint}`
  const code = operator === undefined ? 'invalid_type' : 'invalid_enum_value'
  fault('operator', code, operator === undefined ? `Required: ${expected}` : `Unknown; ${expected}`)
  return undefined
}

function readTarget(
  fault: Report,
  { field, operator }: { field: string; operator?: unknown },
): Target | undefined {
  const target = readField({ field, operator })
  // Without an operator nobody knows whether a bare name is an event's.
  if (target === undefined && isOperator(operator)) {
    fault('field', 'custom', explainField({ field: shorten(field), operator }))
  }
  return target
}

type Operand = Pick<Filter, 'value' | 'unit'>
type Wanted = { target: Target; operator: Operator; fields: Fields }

function readOperand(fault: Report, { target, operator, fields }: Wanted): Operand | undefined {
  const { value } = fields
  if (takesNoValue(operator)) {
    if (value === undefined || value === null || value === '' || value === true) return {}
    fault('value', 'custom', `${operator} takes no value`)
    return undefined
  }
  if (value === undefined || value === null) {
    fault(
      'value',
      'invalid_type',
      value === null ? 'Required: a value other than null' : 'Required',
    )
    if (takesSpan(operator)) readUnit(fault, fields)
    return undefined
  }
  if (takesSpan(operator)) return readSpan(fault, fields)
  const isRight = checkValue(fault, { target, operator, value })
  if (!isRight) return undefined
  return { value: target.kind === 'subscribed' ? value === true : value }
}

function readSpan(fault: Report, fields: Fields): Operand | undefined {
  const { value } = fields
  const unit = readUnit(fault, fields)
  if (typeof value !== 'number') {
    fault('value', 'invalid_type', `Expected number, received ${nameType(value)}`)
    return undefined
  }
  if (!Number.isFinite(value) || value < 0) {
    fault('value', 'too_small', 'Must be 0 or more')
    return undefined
  }
  if (unit === undefined) return undefined
  if (value * unitMs[unit] <= MAX_SPAN_DAYS * unitMs.days) return { value, unit }
  fault('value', 'too_big', `Must be at most ${MAX_SPAN_DAYS} days`)
  return undefined
}

function readUnit(fault: Report, { unit }: Fields) {
  if (isUnit(unit)) return unit
  const code = unit === undefined ? 'invalid_type' : 'invalid_enum_value'
  const expected = `expected one of ${units.join(', ')}`
  fault('unit', code, unit === undefined ? `Required: ${expected}` : `Unknown; ${expected}`)
  return undefined
}

type Operation = { target: Target; operator: Operator; value: unknown }

function checkValue(fault: Report, { target, operator, value }: Operation): boolean {
  if (target.kind === 'subscribed') return true
  if (target.kind === 'instant') return checkInstant(fault, value)
  const isPart = operator === 'contains' || operator === 'notContains'
  if (target.kind === 'email' || isPart) return checkPart(fault, value)
  const isEquality = operator === 'equals' || operator === 'notEquals'
  return checkScalar(fault, { value, isEquality })
}

function checkInstant(fault: Report, value: unknown): boolean {
  if (typeof value === 'string' && parseInstant(value) !== undefined) return true
  const text = 'Expected a date such as 2026-01-31 or 2026-01-31T09:30:00.000Z'
  fault('value', typeof value === 'string' ? 'invalid_string' : 'invalid_type', text)
  return false
}

function checkPart(fault: Report, value: unknown): boolean {
  if (typeof value !== 'string') {
    fault('value', 'invalid_type', `Expected string, received ${nameType(value)}`)
    return false
  }
  if (value !== '') return isText(fault, 'value', value)
  fault('value', 'too_small', 'Must not be empty')
  return false
}

function checkScalar(
  fault: Report,
  { value, isEquality }: { value: unknown; isEquality: boolean },
): boolean {
  if (typeof value === 'string') return isText(fault, 'value', value)
  if (typeof value === 'number' && Number.isFinite(value)) return true
  if (typeof value === 'boolean' && isEquality) return true
  const expected = isEquality ? 'string, number or boolean' : 'string or number'
  fault('value', 'invalid_type', `Expected ${expected}, received ${nameType(value)}`)
  return false
}

function isText(fault: Report, key: string, text: string): boolean {
  if (text.length > MAX_TEXT_LENGTH) {
    fault(key, 'too_big', `Must be at most ${MAX_TEXT_LENGTH} characters long`)
    return false
  }
  // Half of a surrogate pair is no character, and SQLite reads a key only up to its first NUL.
  if (text.isWellFormed() && !(key === 'field' && text.includes('\0'))) return true
  fault(key, 'invalid_string', 'Has a character that is none')
  return false
}
