/** How often a screen asks again. */

const MINUTE_MS = 60_000

/** The pauses between two requests, in milliseconds: while somebody acts, and then. */
const PACES = {
  fast: [5_000, 15_000],
  domain: [10_000, 15_000],
  reset: [2_000, 15_000],
  live: [30_000, 60_000],
} as const
export type Pace = keyof typeof PACES

/** The delay until the next request, by the milliseconds since the last key or pointer. */
export function pollDelay(pace: Pace, sinceInputMs: number): number {
  const [acting, idle] = PACES[pace]
  return sinceInputMs < MINUTE_MS ? acting : idle
}
