/**
 * A time limit that is set again for every reply. Calls `onDue` once for each limit that passes. A
 * later limit does not restart the timer: when the timer fires too early, it is set again for the
 * remaining time.
 */
export function createDeadline(onDue: () => void) {
  let dueAt = Number.POSITIVE_INFINITY
  let firesAt = Number.POSITIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  /** Counts from now; null = no limit. */
  function set(limitMs: number | null): void {
    dueAt = limitMs === null ? Number.POSITIVE_INFINITY : performance.now() + limitMs
    if (dueAt < firesAt) startTimer()
  }

  function startTimer(): void {
    clearTimeout(timer)
    firesAt = dueAt
    timer = setTimeout(fire, Math.ceil(dueAt - performance.now()))
  }

  function fire(): void {
    firesAt = Number.POSITIVE_INFINITY
    if (dueAt === Number.POSITIVE_INFINITY) return
    if (performance.now() < dueAt) {
      startTimer()
      return
    }
    dueAt = Number.POSITIVE_INFINITY
    onDue()
  }

  return { set, stop: () => clearTimeout(timer) }
}
