/** Buckets of time: each email and event is counted in a quarter of an hour and in a day, both of UTC. */
import { DAY_MS, MINUTE_MS } from '../../../base/clock.ts'

/** All offsets of time zones in use are multiples of a quarter hour. */
export const QUARTER_MS = 15 * MINUTE_MS

/** The lengths of buckets, as `span` says them. */
export const SPANS = [QUARTER_MS, DAY_MS] as const

/** Quarters that begin earlier are deleted. Days stay. */
export const QUARTERS_KEPT_MS = 100 * DAY_MS

/** The beginning of the bucket that an instant is in. */
export function startOf(span: number, at: number): number {
  return at - (at % span)
}

/**
 * The first instant from which all quarters are there: a UTC midnight. Further back only UTC days are
 * read, even if some quarters are still there.
 */
export function quartersFrom(now: number): number {
  return Math.ceil((now - QUARTERS_KEPT_MS) / DAY_MS) * DAY_MS
}
