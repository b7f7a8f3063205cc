/** The retry delay: `delivery.retry_schedule`, whose last step repeats, with a jitter of 15%. */
import { MINUTE_MS } from '../../../../base/clock.ts'

const JITTER = 0.15

/** The wait in ms after `failures` failed attempts (0 = none yet). */
export function retryDelayMs(
  schedule: readonly number[],
  failures: number,
  random: () => number = Math.random,
): number {
  const step = schedule[Math.min(failures, schedule.length - 1)] ?? MINUTE_MS
  return Math.round(step * (1 - JITTER + random() * 2 * JITTER))
}
