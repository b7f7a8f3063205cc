/**
 * Remembers how each header field was last written. In the messages of a campaign most fields are alike, and
 * all their dates are a few: a field with the same value is not checked and formatted again.
 */

/** Returns what `format` returns or returned for the value; `isSame`: whether two values are written alike. */
export type FieldMemo = <Value>(
  name: string,
  value: Value,
  format: (name: string, value: Value) => string,
  isSame?: (left: Value, right: Value) => boolean,
) => string

/** The maximum number of names. Senders choose names themselves, so beyond it all are forgotten. */
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
