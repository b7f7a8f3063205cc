/**
 * Dates in conditions (contract 4.3): a text is one when it starts YYYY-MM-DD and then ends or goes
 * on with T, and names an instant. A date alone is the beginning of its UTC day, a time without an
 * offset is in UTC.
 */
export const DAY_MS = 86_400_000

const shape = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/

/** Epoch milliseconds; undefined when the text is no date. */
export function parseInstant(text: string): number | undefined {
  const match = shape.exec(text)
  if (match === null) return undefined
  const [, day = '', offset] = match
  const midnight = Date.parse(`${day}T00:00:00.000Z`)
  // 30 February would be taken for 2 March.
  if (Number.isNaN(midnight) || !toText(midnight).startsWith(day)) return undefined
  if (text === day) return midnight
  const instant = Date.parse(offset === undefined ? `${text}Z` : text)
  return Number.isNaN(instant) ? undefined : instant
}

/** The beginning of the UTC day. */
export function startOfDay(instant: number): number {
  return Math.floor(instant / DAY_MS) * DAY_MS
}

/** `2026-01-31` */
export function formatDay(instant: number): string {
  return toText(instant).slice(0, 10)
}

/**
 * A text that texts of an instant at or behind this second are not less than, whatever follows the
 * second in them: a fraction, a Z. At midnight it is the date alone, as such texts may be.
 */
export function lexicalBound(instant: number): string {
  const text = toText(instant).slice(0, 19)
  return text.endsWith('T00:00:00') ? text.slice(0, 10) : text
}

function toText(instant: number): string {
  return new Date(instant).toISOString()
}
