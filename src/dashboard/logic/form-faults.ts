/** Which input of a form a fault belongs to, and what is wrong with an input before anything is sent. */

/** `field`: a path such as `condition.groups.0.unit`. */
type Placed = { field: string }

/** `byName`: the first fault of each input. `rest`: faults that belong to no input. */
type MappedFaults<Fault> = { byName: Readonly<Record<string, Fault>>; rest: readonly Fault[] }

/**
 * Gives each fault of a 422 to an input. The path of the fault is the name of the input, or else stands below it
 * (the nearest input counts), or above it (the first input counts).
 */
export function mapFaults<Fault extends Placed>(
  faults: readonly Fault[],
  names: readonly string[],
): MappedFaults<Fault> {
  const byName: Record<string, Fault> = {}
  const rest: Fault[] = []
  for (const fault of faults) {
    const name = findInput(fault.field, names)
    if (name === undefined) rest.push(fault)
    else byName[name] ??= fault
  }
  return { byName, rest }
}

function findInput(field: string, names: readonly string[]): string | undefined {
  if (names.includes(field)) return field
  const above = names.filter((name) => field.startsWith(`${name}.`))
  if (above.length > 0) return above.reduce((a, b) => (b.length > a.length ? b : a))
  return names.find((name) => name.startsWith(`${field}.`))
}

/** An input, in so far as it is looked at here. */
export type CheckedInput = {
  value: string
  type: string
  /** -1 without a limit, as in the DOM. */
  minLength: number
  validity: Readonly<{
    valid: boolean
    valueMissing: boolean
    typeMismatch: boolean
    patternMismatch: boolean
    rangeUnderflow: boolean
    rangeOverflow: boolean
    tooLong: boolean
    badInput: boolean
  }>
}

/** `count`: characters. */
type InputFault = { kind: 'missing' | 'email' | 'url' | 'short' | 'long' | 'other'; count: number }

/**
 * What is wrong by the constraints of the input itself; undefined if nothing is. A value that a password
 * manager filled in counts as typed: browsers measure only what was typed.
 */
export function faultOfInput(input: CheckedInput): InputFault | undefined {
  const { validity, value, type, minLength } = input
  if (validity.valueMissing) return { kind: 'missing', count: 0 }
  if (value !== '' && value.length < minLength) return { kind: 'short', count: minLength }
  if (validity.valid) return undefined
  if (validity.tooLong) return { kind: 'long', count: 0 }
  if (validity.typeMismatch && (type === 'email' || type === 'url')) return { kind: type, count: 0 }
  return { kind: 'other', count: 0 }
}
