/**
 * The time limit of a quick rendering, in CPU time of its own thread: on a busy machine, a limit on
 * elapsed time would stop templates that are not slow. Reading the CPU time takes half a
 * microsecond, so elapsed time is checked first.
 */
import type { Context } from 'liquidjs'

/** The library's message for an exceeded time limit. */
export const LIBRARY_TIME_LIMIT = 'template render limit exceeded'

/** Creates the limit that replaces the library's own, whose class is not exported. */
export function createThreadClock(limitMs: number): Context['renderLimit'] {
  const began = process.threadCpuUsage()
  let askAgainAt = performance.now() + limitMs

  function check(): void {
    const at = performance.now()
    if (at < askAgainAt) return
    const { user, system } = process.threadCpuUsage(began)
    const leftMs = limitMs - (user + system) / 1_000
    if (leftMs <= 0) throw new RangeError(LIBRARY_TIME_LIMIT)
    askAgainAt = at + leftMs
  }

  const clock: Pick<Context['renderLimit'], 'check' | 'use'> = { check, use: check }
  return clock as Context['renderLimit']
}
