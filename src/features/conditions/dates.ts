/** Dates in conditions (contract 4.3). */
import { DAY_MS, parseInstant } from '../../clock.ts'

/**
 * The instant of a text in contact data, where texts are compared as they stand: it is a date when
 * it starts YYYY-MM-DD and then ends or goes on with T. Epoch milliseconds; undefined when the text
 * is no date.
 */
export function parseDataDate(text: string): number | undefined {
  return /^[\d-]{10}(?:T|$)/.test(text) ? parseInstant(text)?.at : undefined
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
export function lowestTextOf(instant: number): string {
  const text = toText(instant).slice(0, 19)
  return text.endsWith('T00:00:00') ? text.slice(0, 10) : text
}

function toText(instant: number): string {
  return new Date(instant).toISOString()
}
