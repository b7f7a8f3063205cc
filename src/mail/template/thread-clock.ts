/**
 * The limit of a quick rendering, by the computing time of its own thread: where the machine is
 * busy elsewhere, the clock on the wall would stop templates that are none of the slow ones. Asking
 * the system takes half a microsecond, so the wall is asked first.
 */
import type { Context } from 'liquidjs'

/** Stands in for the library's own limit, whose class it does not hand out. */
export function createThreadClock(limitMs: number): Context['renderLimit'] {
  const began = process.threadCpuUsage()
  let askAgainAt = performance.now() + limitMs

  function check(): void {
    const at = performance.now()
    if (at < askAgainAt) return
    const { user, system } = process.threadCpuUsage(began)
    const leftMs = limitMs - (user + system) / 1_000
    if (leftMs <= 0) throw new RangeError('template render limit exceeded')
    askAgainAt = at + leftMs
  }

  const clock: Pick<Context['renderLimit'], 'check' | 'use'> = { check, use: check }
  return clock as Context['renderLimit']
}
