/**
 * Validates a value with a zod schema and turns zod's issues into the field errors of the API: the
 * API's own codes, dot paths, and one entry where zod lists every alternative of a union.
 *
 * The members of lists and maps are counted before their schemas validate them: zod adds an issue
 * for every invalid member, and hundreds of thousands of issues block a server. The members of a
 * list within its limit are validated one by one, until there are enough errors for the response.
 * The limits come from the schemas: `.max()` of a list, `maxProperties` in the description of a
 * map, the shape of an object without unknown fields.
 */
import { z } from 'zod'
import { type FieldError, invalid, wrongOrMissingText } from '../base/errors.ts'
import { unwrapped } from './name-tree.ts'

type Issue = z.core.$ZodIssue

/** Further errors of a request are left out. */
export const MAX_FIELD_ERRORS = 20
/** The code of a name that the schema does not have. */
const UNRECOGNIZED = 'unrecognized'
/** The members of shorter lists are validated with the whole value. */
const SHORT_LIST = 20
/** Names and texts from the request are shown up to these lengths. */
const MAX_SHOWN_NAME = 100
const MAX_SHOWN_TEXT = 500

/** The message of zod for a union without its own message. */
const DEFAULT_TEXT = 'Invalid input'

const CODES: Partial<Record<Issue['code'], string>> = {
  invalid_type: 'invalid_type',
  invalid_format: 'invalid_string',
  invalid_value: 'invalid_enum_value',
  invalid_union: 'invalid_union',
  too_small: 'too_small',
  too_big: 'too_big',
  not_multiple_of: 'not_multiple_of',
}

/**
 * Returns the output of the schema.
 * @throws AppError VALIDATION_ERROR (422) with one entry for each invalid field
 */
export function validate<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const early = findMemberErrors(schema, value)
  if (early.length > 0) throw invalid(early)
  const result = schema.safeParse(value)
  if (result.success) return result.data
  // Only this second run reports the invalid values, because reporting them costs time.
  const again = schema.safeParse(value, { reportInput: true })
  const issues = (again.error ?? result.error).issues
  throw invalid(allFieldErrors(issues, []).slice(0, MAX_FIELD_ERRORS))
}

/** zod also measures a value of a wrong type, such as a list in place of a text: only the type counts. */
function allFieldErrors(issues: readonly Issue[], prefix: readonly PropertyKey[]): FieldError[] {
  const errors = issues.flatMap((issue) => toFieldErrors(issue, prefix))
  const mistyped = new Set(errors.filter(isMistyped).map(({ field }) => field))
  return errors.filter((error) => isMistyped(error) || !mistyped.has(error.field))
}

const isMistyped = ({ code }: FieldError): boolean => code === 'invalid_type'

function toFieldErrors(issue: Issue, prefix: readonly PropertyKey[]): FieldError[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'invalid_union') return unionErrors(issue, path)
  if (issue.code === 'unrecognized_keys') {
    // A schema may have a message of its own.
    const isDefault = issue.message.startsWith('Unrecognized key')
    const message = isDefault ? 'There is no such field' : shortened(issue.message, MAX_SHOWN_TEXT)
    return issue.keys.map((key) => ({
      field: fieldAt([...path, key]),
      message,
      code: UNRECOGNIZED,
    }))
  }
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) => toFieldErrors({ ...inner, path: [] }, path))
  }
  return [fieldError(issue, path)]
}

/**
 * Returns the errors of the alternative that the client probably meant, which is the only
 * alternative whose type matches the value. If no type matches, the error is one `invalid_type`, or
 * one `invalid_union` if the schema has its own message for such values.
 */
function unionErrors(
  issue: z.core.$ZodIssueInvalidUnion,
  path: readonly PropertyKey[],
): FieldError[] {
  const field = fieldAt(path)
  const [meant, ...others] = issue.errors.filter((issues) => !issues.some(isWrongAtRoot))
  const isShapeWrong = meant?.some(({ code }) => code === 'invalid_type') ?? true
  if (issue.message !== DEFAULT_TEXT && isShapeWrong) {
    return [{ field, message: issue.message, code: 'invalid_union' }]
  }
  if (meant !== undefined && others.length === 0) {
    return meant.flatMap((inner) => toFieldErrors(inner, path))
  }
  if (issue.errors.length > 0 && others.length > 0) {
    // Several alternatives have the type of the value, but none accepts the value.
    const isOwn = issue.message !== DEFAULT_TEXT
    const message = isOwn ? issue.message : (meant?.[0]?.message ?? DEFAULT_TEXT)
    return [{ field, message: shortened(message, MAX_SHOWN_TEXT), code: 'invalid_union' }]
  }
  const expected = issue.errors.flatMap((issues) => issues.filter(isWrongAtRoot).map(expectation))
  const received = typeName(issue.input)
  const message = wrongOrMissingText([...new Set(expected)].join(' or '), received)
  return [{ field, message, code: 'invalid_type', received }]
}

function isWrongAtRoot(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0
}

function expectation(issue: Issue): string {
  return issue.code === 'invalid_type' ? issue.expected : issue.code
}

function fieldError(issue: Issue, path: readonly PropertyKey[]): FieldError {
  const field = fieldAt(path)
  const text = shortened(issue.message, MAX_SHOWN_TEXT)
  if (issue.code === 'custom') {
    const code = typeof issue.params?.code === 'string' ? issue.params.code : 'custom'
    return { field, message: text, code }
  }
  const code = CODES[issue.code] ?? 'custom'
  const received = typeName(issue.input)
  if (issue.code === 'invalid_type') {
    return { field, message: wrongOrMissingText(issue.expected, received), code, received }
  }
  const isMissing = issue.code === 'invalid_value' && received === 'undefined'
  if (!isMissing) return { field, message: text, code }
  return {
    field,
    message: `Required: one of ${issue.values.join(', ')}`,
    code: 'invalid_type',
    received,
  }
}

function fieldAt(path: readonly PropertyKey[]): string {
  return path.map((part) => shortened(String(part), MAX_SHOWN_NAME)).join('.')
}

function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
}

/** The JSON name of the type of a value. */
function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

type Schema = z.core.$ZodType

/** A value within the request, and the errors found so far. */
type MemberErrors = { path: readonly PropertyKey[]; errors: FieldError[] }

/** Errors of lists and objects with too many members, and of the members of long lists. */
function findMemberErrors(schema: Schema, value: unknown): FieldError[] {
  const errors: FieldError[] = []
  checkCounts(schema, value, { path: [], errors })
  return errors
}

/** False if there are too many members. */
function checkCounts(given: Schema, value: unknown, context: MemberErrors): boolean {
  if (typeof value !== 'object' || value === null) return true
  const schema = unwrapped(given)
  const { def } = schema._zod
  if (def.type === 'union') {
    return def.options.map((option) => checkCounts(option, value, context)).every(Boolean)
  }
  if (Array.isArray(value)) return def.type !== 'array' || checkList(schema, value, context)
  if (def.type === 'record') return checkMap(schema, value, context)
  return def.type !== 'object' || checkObject(schema, value, context)
}

function checkList(schema: Schema, list: unknown[], { path, errors }: MemberErrors): boolean {
  const { def } = (schema as z.core.$ZodArray)._zod
  const maximum = maxMembers(def.checks)
  if (list.length > maximum) {
    const message = `Too big: expected array to have <=${maximum} items`
    addError({ path, errors }, 'too_big', message)
    return false
  }
  const isLong = list.length > SHORT_LIST
  for (const [index, value] of list.entries()) {
    const context = { path: [...path, index], errors }
    const isCounted = checkCounts(def.element, value, context)
    if (!isLong) continue
    if (isCounted) addMemberErrors(def.element, value, context)
    if (errors.length >= MAX_FIELD_ERRORS) break
  }
  return true
}

function addMemberErrors(schema: Schema, value: unknown, { path, errors }: MemberErrors): void {
  const { error } = z.safeParse(schema, value, { reportInput: true })
  const found = allFieldErrors(error?.issues ?? [], path)
  errors.push(...found.slice(0, MAX_FIELD_ERRORS - errors.length))
}

/** Infinite for a list without a maximum. */
function maxMembers(checks: readonly z.core.$ZodCheck<never>[] = []): number {
  const limits = checks.map((check) => check._zod.def as z.core.$ZodCheckMaxLengthDef)
  const maxima = limits.filter((limit) => limit.check === 'max_length')
  return Math.min(...maxima.map(({ maximum }) => maximum))
}

function checkMap(schema: Schema, map: object, context: MemberErrors): boolean {
  const maximum = z.globalRegistry.get(schema)?.maxProperties
  if (typeof maximum !== 'number' || Object.keys(map).length <= maximum) return true
  addError(context, 'too_big', `At most ${maximum} entries`)
  return false
}

function checkObject(schema: Schema, fields: object, { path, errors }: MemberErrors): boolean {
  const { shape, catchall } = (schema as z.core.$ZodObject)._zod.def
  const isStrict = (catchall as z.core.$ZodTypes | undefined)?._zod.def.type === 'never'
  if (isStrict && Object.keys(fields).length > Object.keys(shape).length + SHORT_LIST) {
    const message = `Has more than ${SHORT_LIST} unknown fields`
    addError({ path, errors }, UNRECOGNIZED, message)
    return false
  }
  const parts = fields as Record<string, unknown>
  let isCounted = true
  for (const name in shape) {
    const [schemaOfPart, part] = [shape[name], parts[name]]
    // Only objects and lists have members.
    if (schemaOfPart === undefined || typeof part !== 'object' || part === null) continue
    const isPartCounted = checkCounts(schemaOfPart, part, { path: [...path, name], errors })
    isCounted &&= isPartCounted
  }
  return isCounted
}

function addError({ path, errors }: MemberErrors, code: string, message: string): void {
  if (errors.length < MAX_FIELD_ERRORS) errors.push({ field: fieldAt(path), message, code })
}
