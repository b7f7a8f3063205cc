/** How often a screen asks again. */

const MINUTE_MS = 60_000
const FAST_MS = 5_000
const SLOW_MS = 15_000

/** The delay until the next request, by the milliseconds since the last key or pointer. */
export function pollDelay(sinceInputMs: number): number {
  return sinceInputMs < MINUTE_MS ? FAST_MS : SLOW_MS
}
