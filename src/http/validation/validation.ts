/**
 * Validates a value with a zod schema and turns zod's issues into the field errors of the API: the
 * API's own CODES, dot paths, and one entry where zod lists every alternative of a union.
 */
import { z } from 'zod'
import { type FieldError, invalid } from '../../errors.ts'
import { countMembers } from './member-counts.ts'

type Issue = z.core.$ZodIssue

/** Further errors of a request are left out. */
const MAX_FIELD_ERRORS = 20
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
  unrecognized_keys: 'unrecognized_keys',
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
  // Only the second run reports the invalid values, because that costs time on every request.
  const again = schema.safeParse(value, { reportInput: true })
  const issues = (again.error ?? result.error).issues
  throw invalid(issues.flatMap((issue) => toFieldErrors(issue, [])).slice(0, MAX_FIELD_ERRORS))
}

/** Errors of lists and objects with too many members, and of the members of long lists. */
function findMemberErrors(schema: z.ZodType, value: unknown): FieldError[] {
  const errors: FieldError[] = []
  countMembers(schema, value, {
    onTooMany: (path, fault) => {
      if (errors.length < MAX_FIELD_ERRORS) errors.push({ field: fieldAt(path), ...fault })
    },
    onMember(path, member) {
      const { schema: own = z.unknown(), value: given } = member ?? {}
      const { error } = z.safeParse(own, given, { reportInput: true })
      const found = (error?.issues ?? []).flatMap((issue) => toFieldErrors(issue, path))
      errors.push(...found.slice(0, MAX_FIELD_ERRORS - errors.length))
      return errors.length < MAX_FIELD_ERRORS
    },
  })
  return errors
}

function toFieldErrors(issue: Issue, prefix: readonly PropertyKey[]): FieldError[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'invalid_union') return unionErrors(issue, path)
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) => toFieldErrors({ ...inner, path: [] }, path))
  }
  return [fieldError(issue, path)]
}

/**
 * The errors of the alternative that was probably meant: the only one whose type the value has. A
 * value of none of the types is one `invalid_type`. If the schema has its own message for other
 * shapes, the error is one `invalid_union` with that message.
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
  const expected = issue.errors.flatMap((issues) => issues.filter(isWrongAtRoot).map(expectation))
  const received = typeName(issue.input)
  const message = `Expected ${[...new Set(expected)].join(' or ')}, received ${received}`
  return [{ field, message: missing(received, message), code: 'invalid_type', received }]
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
  if (issue.code !== 'invalid_type') return { field, message: text, code }
  const received = typeName(issue.input)
  const message = `Expected ${issue.expected}, received ${received}`
  return { field, message: missing(received, message), code, received }
}

function missing(received: string, message: string): string {
  return received === 'undefined' ? 'Required' : message
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
