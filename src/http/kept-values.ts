/**
 * Warns of values for fields that the record shows and the operation does not set, such as the `status` of a
 * campaign. A client may send back a record as it read it, so only a value that differs from the record after
 * the request is named: it had no effect. Fields that change by themselves (counts, instants, reasons of
 * states), keys and ids are left out, because their values say nothing of a client's wish. Addresses are
 * compared without regard to case.
 */
import type { FieldWarning } from '../base/errors.ts'
import type { NameTree } from './name-tree.ts'

/** Finds the values of `given` that differ from those of the record in `answer`. */
export type KeptCheck = (given: unknown, answer: unknown) => FieldWarning[]

const NOT_WANTED =
  /^(?:id|version|totalRecipients|public|secret)$|(?:Id|At|Count|Since|Until|Reason)$/

/** Texts are shown up to this length. */
const MAX_SHOWN_LENGTH = 60

/** `ways`: by field, the call that changes the value. */
export function createKeptCheck(
  tree: NameTree | undefined,
  ways: Readonly<Record<string, string>>,
): KeptCheck {
  const names = [...(tree?.readOnly ?? [])].flatMap(([name, kind]) =>
    kind === 'plain' && !NOT_WANTED.test(name) ? [name] : [],
  )
  if (names.length === 0) return () => []
  return (given, answer) => {
    const record = recordIn(answer)
    if (!isObject(given) || record === undefined) return []
    return names.flatMap((name) => {
      const value = given[name]
      const kept = record[name]
      if (value === undefined || kept === undefined || isSame(value, kept)) return []
      if (typeof value === 'object' && value !== null) return []
      const message = `This call does not set it, so it was ignored; the value is ${shown(kept)}`
      return [{ field: name, message, suggestion: ways[name] ?? null }]
    })
  }
}

/** An answer is a record, or has it as `data`. */
function recordIn(answer: unknown): Record<string, unknown> | undefined {
  if (!isObject(answer)) return undefined
  return isObject(answer.data) && answer.id === undefined ? answer.data : answer
}

function isSame(value: unknown, kept: unknown): boolean {
  if (typeof value !== 'string' || typeof kept !== 'string' || !kept.includes('@')) {
    return value === kept
  }
  return value.length === kept.length && value.toLowerCase() === kept.toLowerCase()
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function shown(value: unknown): string {
  const text = String(value)
  const isLong = text.length > MAX_SHOWN_LENGTH
  return isLong ? `${text.slice(0, MAX_SHOWN_LENGTH)}…`.toWellFormed() : text
}
