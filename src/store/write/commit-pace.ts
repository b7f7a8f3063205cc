/**
 * The pace of commits. A commit costs as much as the rows of many writes, so under load a group of writes
 * begins some milliseconds after the last one, or once most of the callers are back whom the last group
 * served or left waiting. A few callers never wait, and neither does one who writes alone, each write after
 * the answer to the one before, except once right after a load: the first who comes back does not know
 * whether the others will. If it did not wait, groups would be about half as large.
 */
export type CommitPace = {
  /** Call this at the end of a group; `callers`: who waited for it. `waiting`: who wait for the next one already. */
  ended(callers: number, waiting: number): void
  /** How long the next group waits from now on (ms); 0 if it may begin. `callers`: who wait for it. */
  waitMs(callers: number): number
}

/** The longest time from the end of a group to the next one. */
const PACE_MS = 5
/** So many callers are a load. */
const MANY_CALLERS = 4
/** The share of the known callers that are enough: some were work of the server, which comes when it likes. */
const ENOUGH = 0.8

/** `clock`: a monotonic clock, in milliseconds. */
export function createCommitPace(clock: () => number): CommitPace {
  let known = 0
  let endsAt = Number.NEGATIVE_INFINITY
  return {
    ended(callers, waiting) {
      known = callers + waiting
      endsAt = clock() + PACE_MS
    },
    waitMs: (callers) =>
      known < MANY_CALLERS || callers >= known * ENOUGH ? 0 : Math.max(0, endsAt - clock()),
  }
}
