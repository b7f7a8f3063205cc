/** The buckets of time in which the tables of analytics count. */
import { DAY_MS, MINUTE_MS } from '../../clock.ts'

/** All offsets of time zones in use are multiples of a quarter hour. */
export const QUARTER_MS = 15 * MINUTE_MS

/** Quarters of an hour are kept for so many days; UTC days are kept for good. */
export const QUARTERS_KEPT_DAYS = 100

/**
 * The first instant from which all quarters are there: a UTC midnight. Further back only UTC days are
 * read, even if some quarters are still there.
 */
export function quartersFrom(now: number): number {
  return Math.ceil((now - QUARTERS_KEPT_DAYS * DAY_MS) / DAY_MS) * DAY_MS
}
