/**
 * Turns of the event loop for work that many do at once: in each turn of the loop one of them works. The
 * lines take turns, so that a long line delays mostly itself.
 */
import { createRoundRobin } from '../store/read/round-robin.ts'

export type LoopTurns = {
  /** Resolves when it is the caller's turn; `line` is a project, or a client. */
  next(line: string): Promise<void>
}

export function createLoopTurns(): LoopTurns {
  const waiting = createRoundRobin<() => void>()
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.isEmpty()) return
    isScheduled = true
    // An immediate that is set in another one runs in the next turn of the loop.
    setImmediate(() => {
      isScheduled = false
      waiting.take()?.()
      schedule()
    })
  }

  return {
    next: (line) =>
      new Promise((resolve) => {
        waiting.add(line, resolve)
        schedule()
      }),
  }
}
