import { HOUR_MS, MINUTE_MS } from '../../base/clock.ts'

const FIRST_DELAY_MS = MINUTE_MS
const MAX_DELAY_MS = HOUR_MS

/**
 * Returns the delay after the given number of failures: a minute, doubling up to an hour. Each is
 * up to a quarter shorter or longer at random, so that jobs that failed together are not all due
 * together.
 */
export function jobDelayMs(attempts: number, random: () => number = Math.random): number {
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.max(0, attempts - 1), MAX_DELAY_MS)
  return Math.round(delayMs * (0.75 + random() / 2))
}
