/** When a deferred email is tried again (INTERFACES: `delivery.retry_schedule`, last repeats, ±15%). */
import { MINUTE_MS } from '../../../clock.ts'

const JITTER = 0.15

/** How long to wait after that many failures (0 = none yet), in ms. */
export function retryDelayMs(
  schedule: readonly number[],
  failures: number,
  random: () => number = Math.random,
): number {
  const step = schedule[Math.min(failures, schedule.length - 1)] ?? MINUTE_MS
  return Math.round(step * (1 - JITTER + random() * 2 * JITTER))
}
