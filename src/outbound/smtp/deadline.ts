/**
 * A limit that is set anew for every reply, on one timer that is not moved each time: when it rings
 * before its time, it is set for the rest.
 */
export type Deadline = {
  /** From now on; null = none. */
  set(limitMs: number | null): void
  stop(): void
}

/** `onDue` is called once for each limit that passes. */
export function createDeadline(onDue: () => void): Deadline {
  let dueAt = Number.POSITIVE_INFINITY
  let ringsAt = Number.POSITIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function set(limitMs: number | null): void {
    dueAt = limitMs === null ? Number.POSITIVE_INFINITY : performance.now() + limitMs
    if (dueAt < ringsAt) wind()
  }

  function wind(): void {
    clearTimeout(timer)
    ringsAt = dueAt
    timer = setTimeout(ring, Math.ceil(dueAt - performance.now()))
  }

  function ring(): void {
    ringsAt = Number.POSITIVE_INFINITY
    if (dueAt === Number.POSITIVE_INFINITY) return
    if (performance.now() < dueAt) {
      wind()
      return
    }
    dueAt = Number.POSITIVE_INFINITY
    onDue()
  }

  return { set, stop: () => clearTimeout(timer) }
}
