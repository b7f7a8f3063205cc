/**
 * Warnings about fields that a request has and its route does not know: the request takes effect
 * without them, and the answer says so. Names of other mail services' fields are answered with ours.
 */
import type { z } from 'zod'
import { findClosest } from '../../config/layers/closest.ts'

/** Field of another API, or a near miss that no spelling check finds -> ours. */
export type FieldAliases = Readonly<Record<string, string>>

/** A body with more unknown fields than that is answered with the first of them. */
const MAX_WARNINGS = 20
const MAX_NAME_LENGTH = 60

/**
 * @returns one text a field: `"html": unknown field, ignored; did you mean "body"?`; undefined when
 *   there is no unknown field
 */
export function warnOfUnknownFields(
  schema: z.ZodObject,
  body: unknown,
  aliases: FieldAliases,
): string[] | undefined {
  const known = Object.keys(schema.shape)
  const unknown = Object.keys(Object(body)).filter((name) => !known.includes(name))
  if (unknown.length === 0) return undefined
  return unknown.slice(0, MAX_WARNINGS).map((name) => {
    const shown = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name
    const meant = Object.hasOwn(aliases, name) ? aliases[name] : findClosest(shown, known)
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
    return `${JSON.stringify(shown)}: unknown field, ignored${hint}`
  })
}
