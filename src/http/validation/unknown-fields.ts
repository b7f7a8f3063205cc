/**
 * Warnings about unknown fields of a request. The request takes effect without them, and the
 * response contains the warnings. For the field names of other mail services they suggest Pillarbox's.
 */
import type { z } from 'zod'
import { findClosest } from '../../config/layers/closest.ts'

/** Maps fields of other APIs, and misspellings that a spelling check misses, to Pillarbox's fields. */
type FieldAliases = Readonly<Record<string, string>>

/** Warnings for further unknown fields are left out. */
const MAX_WARNINGS = 20
const MAX_NAME_LENGTH = 60

/**
 * @returns one text for each field: `"html": unknown field, ignored; did you mean "body"?`; undefined
 *   without unknown fields
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
