/**
 * The time without the jumps that the clock of the machine made in the last ten minutes. A clock that
 * jumps forward is believed after it has been so for ten minutes of the running time of this process;
 * one that is set back, or put forward by less than a minute, is believed at once. Sleep of the machine
 * counts as a jump, too. Without jumps it is the time itself.
 */
import { MINUTE_MS, type Now } from '../../../../base/clock.ts'

/** As long as overdue mail has to be overdue before it is given up untried (`queue/give-up.ts`). */
const BELIEVED_AFTER_MS = 10 * MINUTE_MS
const SMALL_JUMP_MS = MINUTE_MS

/** At `at`, the monotonic clock, the clock of the machine was ahead of it by `leadMs`. */
type Reading = { at: number; leadMs: number }

/** `elapsed`: a monotonic clock in milliseconds. */
export function createSteadyClock(now: Now, elapsed: () => number): Now {
  let readings: Reading[] = []

  function read(): number {
    const at = elapsed()
    const clock = now()
    add({ at, leadMs: clock - at })
    // The newest reading that is old enough stays: nothing may have been read since.
    const first = readings.findLastIndex((reading) => reading.at <= at - BELIEVED_AFTER_MS)
    if (first > 0) readings = readings.slice(first)
    const steady = at + Math.min(...readings.map(({ leadMs }) => leadMs))
    return clock - steady < SMALL_JUMP_MS ? clock : steady
  }

  /** Readings of the same minute are one, with the least lead. */
  function add(reading: Reading): void {
    const last = readings.at(-1)
    if (last === undefined || reading.at - last.at >= MINUTE_MS) readings.push(reading)
    else last.leadMs = Math.min(last.leadMs, reading.leadMs)
  }

  read()
  return read
}
