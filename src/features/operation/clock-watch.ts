/**
 * Logs when the clock of the machine jumps by more than an hour, because give-up times, schedules
 * and dates of mail depend on it. A sleep of the machine counts as a jump, too. After a jump the
 * loop of jobs is woken, so that due jobs run at once: its timers do not notice a change of the
 * clock.
 */
import { formatInstant, HOUR_MS } from '../../base/clock.ts'
import { runEvery } from '../../work/loop.ts'
import type { Base } from '../ground/base.ts'

type ClockWatchOptions = {
  everyMs?: number
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number
}

const EVERY_MS = 10_000
const JUMP_MS = HOUR_MS

/** Starts the watch; the returned function ends it. */
export function watchClock(
  { now, log, jobNotifier }: Pick<Base, 'now' | 'log' | 'jobNotifier'>,
  { everyMs = EVERY_MS, elapsed = () => performance.now() }: ClockWatchOptions = {},
): () => void {
  let last = { clock: now(), elapsed: elapsed() }

  function check(): void {
    const current = { clock: now(), elapsed: elapsed() }
    const expected = last.clock + current.elapsed - last.elapsed
    const jumpMs = Math.round(current.clock - expected)
    last = current
    if (Math.abs(jumpMs) <= JUMP_MS) return
    const facts = { jumpMs, from: formatInstant(expected), to: formatInstant(current.clock) }
    const direction = jumpMs > 0 ? 'forward' : 'back'
    log.warn(facts, `the clock of the machine jumped ${direction} by more than an hour`)
    jobNotifier.notify()
  }

  const loop = runEvery(everyMs, check)
  return () => void loop.stop()
}
