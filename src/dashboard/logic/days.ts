/** Days of a time zone. */
import { formatDate } from './format.ts'

/**
 * The instant at which the day (YYYY-MM-DD) begins in the zone, as ISO 8601 in UTC. Where the clock skips midnight,
 * the day begins later.
 */
export function startOfDay(day: string, timeZone: string): string {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  // The offset may change between the guess and the day's begin, so it is looked up twice.
  const guess = midnight - offsetAt(midnight, timeZone)
  return new Date(midnight - offsetAt(guess, timeZone)).toISOString()
}

/** The last millisecond of the day in the zone. */
export function endOfDay(day: string, timeZone: string): string {
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
  return new Date(Date.parse(startOfDay(next, timeZone)) - 1).toISOString()
}

/** Milliseconds by which the clocks of the zone are ahead of UTC. */
function offsetAt(instant: number, timeZone: string): number {
  // The Swedish form is ISO 8601, and as good as all zones have whole minutes.
  const local = formatDate('isoSecond', new Date(instant), { locale: 'sv', timeZone })
  return Math.round((Date.parse(`${local.replace(' ', 'T')}Z`) - instant) / 60_000) * 60_000
}
