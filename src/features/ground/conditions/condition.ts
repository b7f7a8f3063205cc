/**
 * A condition selects contacts for a segment, a list, an export or a bulk job:
 *
 *   { logic: 'AND' | 'OR', groups: [{ filters: [...], conditions?: condition }, ...] }
 *
 * `logic` joins the groups. In a group, all filters and the nested condition must hold. An invalid
 * condition is refused with the path of every error. A parsed condition keeps the spelling of its
 * fields and drops everything without a meaning.
 */

import {
  AppError,
  type FieldError,
  invalid,
  invalidField,
  isInvalid,
  wrongOrMissingText,
} from '../../../base/errors.ts'
import { parseJsonText } from '../../../base/json-text.ts'
import { MAX_CONDITION_DEPTH, MAX_CONDITION_FILTERS } from '../../../records/limits.ts'
import { parseConditionField } from './field.ts'
import { type AddError, errorsAt, type JsonObject, nameType, readObject } from './field-errors.ts'
import { type Filter, parseFilter } from './filter.ts'

export type Condition = { logic: Logic; groups: ConditionGroup[] }
type Logic = 'AND' | 'OR'
/** A group has at least one filter or a nested condition. */
export type ConditionGroup = { filters: Filter[]; conditions?: Condition }

export type ConditionReferences = {
  /** The used keys of contact data. */
  keys: string[]
  /** The used columns of contacts: `email`, `subscribed`, `createdAt`, `updatedAt`. */
  columns: string[]
  /** The names of the used events as stored: `email.open` for the field `email.opened`. */
  events: string[]
  /** Ids of segments. */
  segments: string[]
  /** Ids of campaigns. */
  campaigns: string[]
}

const MAX_GROUPS = 500
const MAX_BYTES = 128 * 1024

/**
 * Parses a condition.
 * @param at the path of the value in the request; `condition.groups.0.filters.1.operator` is a path
 *   below `condition`
 * @throws AppError VALIDATION_ERROR with all errors in the shape, fields, operators, values and
 *   units; also for more than 32 levels, 500 filters, 500 groups or 128 KB of JSON
 */
export function parseCondition(value: unknown, at: string): Condition {
  return parse(value, at, { isStored: false })
}

function parse(value: unknown, at: string, { isStored }: { isStored: boolean }): Condition {
  const walk: ConditionWalk = { errors: [], filters: 0, groups: 0, isStored }
  const condition = readCondition(walk, { value, path: at, depth: 1 })
  if (condition === undefined || walk.errors.length > 0) throw invalid(walk.errors)
  if (Buffer.byteLength(JSON.stringify(condition)) <= MAX_BYTES) return condition
  throw invalidField(at, 'too_big', `Must be at most ${MAX_BYTES} bytes of JSON`)
}

/** Parses JSON text, as in a query, like `parseCondition`. @throws AppError VALIDATION_ERROR */
export function parseConditionText(text: string, at: string): Condition {
  return parseCondition(readJson(text, at), at)
}

/**
 * Reads a stored condition. A damaged condition is refused, so it selects no contact by accident.
 * @param of the owner of the condition, for the message: `The segment "VIP"`
 * @throws AppError BAD_REQUEST
 */
export function readStoredCondition(stored: unknown, of: string): Condition {
  try {
    return parse(stored, 'condition', { isStored: true })
  } catch (error) {
    if (!isInvalid(error)) throw error
    const [fault] = error.fields ?? []
    const where = fault === undefined ? '' : ` (${fault.field}: ${fault.message})`
    const text = `${of} has a condition that cannot be read${where}, so it selects nobody.`
    throw new AppError('BAD_REQUEST', text, { suggestion: 'Give it a new condition.' })
  }
}

/** Lists the fields, events, segments and campaigns that a condition refers to, each once. */
export function listReferences(condition: Condition): ConditionReferences {
  const keys = new Set<string>()
  const columns = new Set<string>()
  const events = new Set<string>()
  const segments = new Set<string>()
  const campaigns = new Set<string>()
  for (const filter of listFilters(condition)) {
    const parsedField = parseConditionField(filter)
    if (parsedField === undefined) continue
    if (parsedField.kind === 'data') keys.add(parsedField.key)
    else if (parsedField.kind === 'event') {
      events.add(parsedField.name)
      if (parsedField.campaignId !== undefined) campaigns.add(parsedField.campaignId)
    } else if (parsedField.kind === 'segment') segments.add(parsedField.id)
    else columns.add(filter.field)
  }
  return {
    keys: [...keys],
    columns: [...columns],
    events: [...events],
    segments: [...segments],
    campaigns: [...campaigns],
  }
}

/** Lists the filters of all levels. Skips the damaged parts of a stored condition. */
export function* listFilters({ groups }: Condition): Generator<Filter> {
  if (!Array.isArray(groups)) return
  for (const group of groups as (Partial<ConditionGroup> | null)[]) {
    const { filters, conditions } = group ?? {}
    for (const filter of Array.isArray(filters) ? filters : []) {
      if (typeof filter?.field === 'string') yield filter
    }
    if (conditions !== undefined && conditions !== null) yield* listFilters(conditions)
  }
}

/** `isStored`: the condition was saved before, so names that no event can have are accepted. */
type ConditionWalk = { errors: FieldError[]; filters: number; groups: number; isStored: boolean }
type JsonNode = { value: unknown; path: string; depth: number }

function readCondition(
  walk: ConditionWalk,
  { value, path, depth }: JsonNode,
): Condition | undefined {
  const addError = errorsAt(walk.errors, path)
  if (depth > MAX_CONDITION_DEPTH) {
    addError('', 'too_big', `Conditions may be nested ${MAX_CONDITION_DEPTH} deep`)
    return undefined
  }
  const fields = readObject(addError, { value, keys: ['logic', 'groups'] })
  if (fields === undefined) return undefined
  const logic = readLogic(addError, fields)
  const list = readList(addError, { fields, key: 'groups' })
  if (list?.length === 0) addError('groups', 'too_small', 'Give at least one group')
  walk.groups += list?.length ?? 0
  if (list === undefined || walk.groups > MAX_GROUPS) {
    if (list) addError('groups', 'too_big', `A condition has at most ${MAX_GROUPS} groups in all`)
    return undefined
  }
  const groups = list.map((group, index) =>
    readGroup(walk, { value: group, path: `${path}.groups.${index}`, depth }),
  )
  return logic && groups.every(isDefined) ? { logic, groups } : undefined
}

function readGroup(
  walk: ConditionWalk,
  { value, path, depth }: JsonNode,
): ConditionGroup | undefined {
  const addError = errorsAt(walk.errors, path)
  const fields = readObject(addError, { value, keys: ['filters', 'conditions'] })
  const list = fields && readList(addError, { fields, key: 'filters' })
  if (fields === undefined || list === undefined) return undefined
  walk.filters += list.length
  if (walk.filters > MAX_CONDITION_FILTERS) {
    addError(
      'filters',
      'too_big',
      `A condition has at most ${MAX_CONDITION_FILTERS} filters in all`,
    )
    return undefined
  }
  const filters = list.map((filter, index) =>
    parseFilter(errorsAt(walk.errors, `${path}.filters.${index}`), filter, walk),
  )
  const hasNested = fields.conditions !== undefined && fields.conditions !== null
  if (list.length === 0 && !hasNested) {
    addError('filters', 'too_small', 'Give at least one filter, or a nested condition')
  }
  const below = { value: fields.conditions, path: `${path}.conditions`, depth: depth + 1 }
  const conditions = hasNested ? readCondition(walk, below) : undefined
  if (!filters.every(isDefined)) return undefined
  return { filters, ...(conditions === undefined ? {} : { conditions }) }
}

function readLogic(addError: AddError, { logic }: JsonObject): Logic | undefined {
  if (logic === 'AND' || logic === 'OR') return logic
  if (logic === undefined) addError('logic', 'invalid_type', 'Required: AND or OR')
  else addError('logic', 'invalid_enum_value', 'Expected AND or OR')
  return undefined
}

function readList(
  addError: AddError,
  { fields, key }: { fields: JsonObject; key: string },
): unknown[] | undefined {
  const value = fields[key]
  if (Array.isArray(value)) return value
  addError(key, 'invalid_type', wrongOrMissingText('array', nameType(value)))
  return undefined
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined
}

function readJson(text: string, at: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    throw invalidField(at, 'invalid_string', 'Must be a condition as JSON text')
  }
}
