/** Collects the errors of a condition with their paths. */

import { type FieldError, wrongOrMissingText } from '../../../base/errors.ts'
import { type Effort, findNearest } from '../../../config/layers/closest.ts'

/** Adds an error at `key` below a path; the empty key is the path itself. */
export type AddError = (key: string, code: string, message: string) => void
export type JsonObject = Record<string, unknown>

/** The most errors that are reported for a condition. */
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
    addError(shortenForError(key), 'unrecognized', `Unknown key; allowed are ${keys.join(', ')}`)
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

/** Returns ` Did you mean "equals"?` when a name is similar, else an empty text. */
export function suggest(text: string, names: readonly string[], effort?: Effort): string {
  const best = nearestName(text, names, effort)
  return best === undefined ? '' : ` Did you mean "${best}"?`
}

/**
 * Returns the most similar name, ignoring letter case; undefined if none is similar. `effort`: the
 * bound on the work for all comparisons of a request.
 */
export function nearestName(
  text: string,
  names: readonly string[],
  effort?: Effort,
): string | undefined {
  return findNearest(text.slice(0, MAX_SHOWN).toLowerCase(), names, {
    limitOf: ({ length }) => Math.max(2, Math.floor(length / 3)),
    plain: (name) => name.toLowerCase(),
    effort,
  })
}
