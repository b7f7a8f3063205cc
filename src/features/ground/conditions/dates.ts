/** Reads and writes the dates of contact data, for conditions. */
import { DAY_MS, parseInstant } from '../../../base/clock.ts'

/**
 * Parses a date in contact data: YYYY-MM-DD, alone or followed by T and a time. Returns epoch
 * milliseconds; undefined for other texts.
 */
export function parseDataDate(text: string): number | undefined {
  return /^[\d-]{10}(?:T|$)/.test(text) ? parseInstant(text)?.at : undefined
}

/** Returns the start of the UTC day. */
export function startOfUtcDay(instant: number): number {
  return Math.floor(instant / DAY_MS) * DAY_MS
}

/** Formats the UTC day of an instant: `2026-01-31`. */
export function dayOf(instant: number): string {
  return toText(instant).slice(0, 10)
}

/**
 * Returns the lower bound, in text order, of every ISO spelling of this second (with or without a
 * fraction or `Z`). At midnight the bound is the date alone, which is one of the spellings.
 */
export function lowestTextOf(instant: number): string {
  const text = toText(instant).slice(0, 19)
  return text.endsWith('T00:00:00') ? text.slice(0, 10) : text
}

function toText(instant: number): string {
  return new Date(instant).toISOString()
}
