/** Collects the errors of a condition with their paths. */
import { type FieldError, wrongOrMissingText } from '../../errors.ts'

/** Adds an error at `key` below a path; the empty key is the path itself. */
export type AddError = (key: string, code: string, message: string) => void
export type JsonObject = Record<string, unknown>

/** The maximum number of errors for a condition. */
const MAX_ERRORS = 20
const MAX_SHOWN = 60

export function errorsAt(errors: FieldError[], path: string): AddError {
  return (key, code, message) => {
    if (errors.length >= MAX_ERRORS) return
    errors.push({ field: key === '' ? path : `${path}.${key}`, message, code })
  }
}

/** Returns the value as an object. Adds an error for another type and for each unknown key. */
export function readObject(
  addError: AddError,
  { value, keys }: { value: unknown; keys: readonly string[] },
): JsonObject | undefined {
  const received = nameType(value)
  if (received !== 'object') {
    addError('', 'invalid_type', wrongOrMissingText('object', received))
    return undefined
  }
  for (const key of Object.keys(value as JsonObject)) {
    if (keys.includes(key)) continue
    addError(
      shortenForError(key),
      'unrecognized_keys',
      `Unknown key; allowed are ${keys.join(', ')}`,
    )
  }
  return value as JsonObject
}

/** Returns the JSON name of a value's type. */
export function nameType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Shortens text of the request for an error message. */
export function shortenForError(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`
}

/** Returns ` Did you mean "equals"?` when a name is similar, or an empty text. */
export function suggest(text: string, names: readonly string[]): string {
  const [best] = names
    .map((name) => ({ name, distance: countEdits(text.slice(0, MAX_SHOWN), name) }))
    .sort((one, other) => one.distance - other.distance)
  if (best === undefined || best.distance > Math.max(2, best.name.length / 3)) return ''
  return ` Did you mean "${best.name}"?`
}

/** The edit distance, ignoring letter case. */
function countEdits(one: string, other: string): number {
  const otherLetters = [...other.toLowerCase()]
  let row = [0, ...otherLetters.map((_, index) => index + 1)]
  for (const [index, letter] of [...one.toLowerCase()].entries()) {
    const next = [index + 1]
    for (const [column, otherLetter] of otherLetters.entries()) {
      const replaced = (row[column] ?? 0) + (letter === otherLetter ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
