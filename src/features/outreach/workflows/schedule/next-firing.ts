/**
 * Finds when a schedule fires next. The five fields of a cron expression name local times in a time
 * zone. A local time that the zone skips (daylight saving begins) fires at the next valid instant;
 * a local time that comes twice fires the first time only.
 *
 * croner alone cannot do this: it drops skipped times when the schedule names several of them. So it
 * lists the local times, and this file finds their instants.
 */
import { Cron } from 'croner'
import { HOUR_MS, MINUTE_MS } from '../../../../base/clock.ts'

/** `timezone`: an IANA name; UTC if absent. */
export type FiringTimes = { schedule: string; timezone?: string | undefined }

/**
 * Longer than any offset from UTC: the instants that a local time can mean lie less than this span
 * before and after it.
 */
const AROUND_MS = 26 * HOUR_MS

/**
 * Returns the first firing after an instant, both in epoch milliseconds; null if there is none.
 * @throws TypeError or RangeError for an invalid schedule, RangeError for an unknown time zone
 */
export function nextFiring(
  { schedule, timezone = 'UTC' }: FiringTimes,
  afterMs: number,
): number | null {
  const cron = toCron(schedule)
  const offsetAt = createOffsets(timezone)
  // croner calculates with local times as if they were UTC.
  let local = cron.nextRun(new Date(afterMs + offsetAt(afterMs)))
  while (local !== null) {
    const at = toInstant(local.getTime(), offsetAt)
    // In the second pass through an hour that comes twice, the instant may be over; then the next
    // local time is tried.
    if (at > afterMs) return at
    local = cron.nextRun(local)
  }
  return null
}

/** Whether the text is a cron expression of five fields. */
export function isSchedule(text: string): boolean {
  if (text.trim().split(/\s+/).length !== 5) return false
  try {
    toCron(text)
    return true
  } catch {
    return false
  }
}

/** Whether the text is the name of a time zone. An offset such as `+02:00` is none. */
export function isTimezone(text: string): boolean {
  if (!/^[a-z]/i.test(text)) return false
  try {
    createOffsets(text)
    return true
  } catch {
    return false
  }
}

/** Parses a cron expression. croner sets no timer, because it gets no function to call. */
function toCron(schedule: string): Cron {
  return new Cron(schedule, { timezone: 'UTC', mode: '5-part', paused: true })
}

type Offsets = (at: number) => number

/** Returns a function from an instant to the zone's offset from UTC in milliseconds. */
function createOffsets(timeZone: string): Offsets {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  return (at) => {
    const parts = format.formatToParts(at)
    const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = '0', minutes = '0'] = /([+-])(\d+):(\d+)/.exec(name) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS)
  }
}

function toInstant(local: number, offsetAt: Offsets): number {
  const byOld = local - offsetAt(local - AROUND_MS)
  const byNew = local - offsetAt(local + AROUND_MS)
  const valid = [byOld, byNew].filter((at) => at + offsetAt(at) === local)
  return valid.length > 0 ? Math.min(...valid) : findChange(byNew, byOld, offsetAt)
}

/** Returns the instant at which the offset changes between two instants. */
function findChange(from: number, to: number, offsetAt: Offsets): number {
  const before = offsetAt(from)
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === before) low = middle
    else high = middle
  }
  return high
}
