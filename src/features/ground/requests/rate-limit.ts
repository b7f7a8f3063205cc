/**
 * Limits requests per minute for each caller, over a window that slides by the second: the requests
 * allowed in the current second and the 59 before it count. Refused requests do not count. A window
 * is 60 numbers, and is deleted after a minute without requests. `work/limiter.ts` does not fit: it keeps an instant
 * for each attempt, and its answer lacks the figures of the rate headers.
 */
import type { Now } from '../../../base/clock.ts'

export type RateVerdict = {
  isAllowed: boolean
  limit: number
  remaining: number
  /** Seconds until the window is empty if no further request comes. */
  resetSeconds: number
  /** Seconds until the next request is allowed; 0 when one is allowed now. */
  retryAfterSeconds: number
}

export type RateLimiter = {
  /** Counts a request and says whether it is allowed. Undefined when there is no limit. */
  take(caller: string): RateVerdict | undefined
  /** The number of windows in memory. */
  size(): number
}

const WINDOW_SECONDS = 60

type RateWindow = { counts: Uint32Array; total: number; newestSecond: number }

export function createRateLimiter(limit: number, now: Now): RateLimiter {
  const windows = new Map<string, RateWindow>()
  let deletedSecond = 0

  function deleteOldWindows(second: number): void {
    if (Math.abs(second - deletedSecond) < WINDOW_SECONDS) return
    deletedSecond = second
    for (const [caller, window] of windows) {
      if (Math.abs(second - window.newestSecond) >= WINDOW_SECONDS) windows.delete(caller)
    }
  }

  function take(caller: string): RateVerdict | undefined {
    if (limit === 0) return undefined
    const second = Math.floor(now() / 1000)
    deleteOldWindows(second)
    const window = windows.get(caller) ?? emptyWindow(second)
    windows.set(caller, window)
    advance(window, second)
    const isAllowed = window.total < limit
    if (isAllowed) countIn(window)
    return verdictOf(window, { isAllowed, limit })
  }

  return { take, size: () => windows.size }
}

function emptyWindow(second: number): RateWindow {
  return { counts: new Uint32Array(WINDOW_SECONDS), total: 0, newestSecond: second }
}

/** Moves the window to `second`. A clock that is set back by more than a window starts a new one. */
function advance(window: RateWindow, second: number): void {
  const passed = second - window.newestSecond
  if (Math.abs(passed) >= WINDOW_SECONDS) {
    window.counts.fill(0)
    window.total = 0
    window.newestSecond = second
    return
  }
  for (let step = 1; step <= passed; step += 1) {
    const slot = (window.newestSecond + step) % WINDOW_SECONDS
    window.total -= window.counts[slot] ?? 0
    window.counts[slot] = 0
  }
  if (passed > 0) window.newestSecond = second
}

function countIn(window: RateWindow): void {
  const slot = window.newestSecond % WINDOW_SECONDS
  window.counts[slot] = (window.counts[slot] ?? 0) + 1
  window.total += 1
}

function verdictOf(
  window: RateWindow,
  verdict: { isAllowed: boolean; limit: number },
): RateVerdict {
  const isFull = window.total >= verdict.limit
  return {
    ...verdict,
    remaining: verdict.limit - window.total,
    resetSeconds: secondsUntilGone(window, 'newest'),
    retryAfterSeconds: isFull ? secondsUntilGone(window, 'oldest') : 0,
  }
}

/** Seconds until the oldest or the newest second with requests leaves the window. */
function secondsUntilGone(window: RateWindow, which: 'oldest' | 'newest'): number {
  for (let step = 0; step < WINDOW_SECONDS; step += 1) {
    const age = which === 'newest' ? step : WINDOW_SECONDS - 1 - step
    const slot = (window.newestSecond - age + WINDOW_SECONDS) % WINDOW_SECONDS
    if (window.counts[slot] !== 0) return WINDOW_SECONDS - age
  }
  return 0
}
