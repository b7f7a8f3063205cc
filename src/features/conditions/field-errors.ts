/** Noting what is wrong with a condition, and where. */
import type { FieldError } from '../../errors.ts'

/** Notes a fault at `key` below a place; the empty key is the place itself. */
export type AddError = (key: string, code: string, message: string) => void
export type JsonObject = Record<string, unknown>

/** A condition that is wrong everywhere is told so often enough. */
const MAX_ERRORS = 20
const MAX_SHOWN = 60

export function errorsAt(errors: FieldError[], path: string): AddError {
  return (key, code, message) => {
    if (errors.length >= MAX_ERRORS) return
    errors.push({ field: key === '' ? path : `${path}.${key}`, message, code })
  }
}

/** The value as an object; notes that it is none, and each key that is none of `keys`. */
export function readObject(
  addError: AddError,
  { value, keys }: { value: unknown; keys: readonly string[] },
): JsonObject | undefined {
  const received = nameType(value)
  if (received !== 'object') {
    const text = received === 'undefined' ? 'Required' : `Expected object, received ${received}`
    addError('', 'invalid_type', text)
    return undefined
  }
  for (const key of Object.keys(value as JsonObject)) {
    if (keys.includes(key)) continue
    addError(shorten(key), 'unrecognized_keys', `Unknown key; allowed are ${keys.join(', ')}`)
  }
  return value as JsonObject
}

/** What JSON calls the type of a value. */
export function nameType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** A stranger's text as part of a message. */
export function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`
}

/** ` Did you mean "equals"?` where one of the names is close, else nothing. */
export function suggest(text: string, names: readonly string[]): string {
  const [best] = names
    .map((name) => ({ name, distance: countEdits(text.slice(0, MAX_SHOWN), name) }))
    .sort((one, other) => one.distance - other.distance)
  if (best === undefined || best.distance > Math.max(2, best.name.length / 3)) return ''
  return ` Did you mean "${best.name}"?`
}

/** Letters to add, drop or replace, letter case aside. */
function countEdits(one: string, other: string): number {
  const target = [...other.toLowerCase()]
  let row = [0, ...target.map((_, index) => index + 1)]
  for (const [index, letter] of [...one.toLowerCase()].entries()) {
    const next = [index + 1]
    for (const [column, wanted] of target.entries()) {
      const replaced = (row[column] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
