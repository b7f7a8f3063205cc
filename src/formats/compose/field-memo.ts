/**
 * Remembers the last written form of each header field. Most messages of a campaign have the same
 * fields and few different dates, so a field with the same value as before is not checked and
 * formatted again.
 */

/**
 * Returns the field for `value`: the remembered field if `isSame` says that the value equals the
 * last one, else the result of `format`.
 */
export type FieldMemo = <Value>(
  name: string,
  value: Value,
  format: (name: string, value: Value) => string,
  isSame?: (left: Value, right: Value) => boolean,
) => string

/**
 * The maximum number of field names. Senders choose names, so one name too many clears the memory.
 */
const MAX_NAMES = 100

export function createFieldMemo(): FieldMemo {
  const known = new Map<string, { value: unknown; field: string }>()
  return (name, value, format, isSame = Object.is) => {
    const last = known.get(name)
    if (last !== undefined && isSame(last.value as typeof value, value)) return last.field
    const field = format(name, value)
    if (last === undefined) {
      if (known.size >= MAX_NAMES) known.clear()
      known.set(name, { value, field })
    } else {
      last.value = value
      last.field = field
    }
    return field
  }
}
