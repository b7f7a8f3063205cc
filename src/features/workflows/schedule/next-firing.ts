/**
 * The times of a SCHEDULE: a cron expression of five fields, in a time zone.
 *
 *   a local time that is skipped   fires at the next valid instant
 *   a local time that occurs twice fires the first time only
 */
import { Cron } from 'croner'
import { HOUR_MS, MINUTE_MS } from '../../../clock.ts'

/** `timezone`: an IANA name. */
export type Firings = { schedule: string; timezone: string }

/** By how much clocks have been set back. */
const SET_BACK_MS: readonly number[] = [30 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS]

/**
 * Returns the first firing after an instant, both in epoch ms; null if there is none.
 * @throws TypeError or RangeError for an expression or a time zone that `isSchedule` and `isTimezone` refuse
 */
export function nextFiring({ schedule, timezone }: Firings, afterMs: number): number | null {
  const cron = toCron(schedule, timezone)
  const wallClock = createWallClock(timezone)
  let at = cron.nextRun(new Date(afterMs))
  while (at !== null && isRepeated(wallClock, at.getTime())) at = cron.nextRun(at)
  return at === null ? null : at.getTime()
}

/** Whether the text is a cron expression of five fields. */
export function isSchedule(text: string): boolean {
  if (text.trim().split(/\s+/).length !== 5) return false
  try {
    toCron(text, 'UTC')
    return true
  } catch {
    return false
  }
}

/** Whether the text is the name of a time zone, which an offset is not. */
export function isTimezone(text: string): boolean {
  if (!/^[a-z]/i.test(text)) return false
  try {
    createWallClock(text)
    return true
  } catch {
    return false
  }
}

/** Without a function to call, croner sets no timer. */
function toCron(schedule: string, timezone: string): Cron {
  return new Cron(schedule, { timezone, mode: '5-part', paused: true })
}

function createWallClock(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  })
}

/** Whether clocks showed the same time before, because they were set back. */
function isRepeated(wallClock: Intl.DateTimeFormat, at: number): boolean {
  const shown = wallClock.format(at)
  return SET_BACK_MS.some((ms) => wallClock.format(at - ms) === shown)
}
