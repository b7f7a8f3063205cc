/**
 * Turns of the event loop for work that many do at once: at most one of them works in a turn of the loop,
 * and some turns in between are of others. The lines take turns, so that a long line delays mostly itself.
 */
import { createRoundRobin } from '../store/read/round-robin.ts'
import { currentOwner } from '../turns/owner.ts'

/** Turns of the loop between two of these, so that short work, which takes several, is not slowed by each. */
const TURNS_OF_OTHERS = 2

type LoopTurns = {
  /** Resolves when it is the caller's turn; `line` is a project, or a client. */
  next(line: string): Promise<void>
}

export function createLoopTurns(): LoopTurns {
  const waiting = createRoundRobin<() => void>()
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.isEmpty()) return
    isScheduled = true
    afterTurns(TURNS_OF_OTHERS, () => {
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

/** An immediate that is set in another one runs in the next turn of the loop. */
function afterTurns(count: number, act: () => void): void {
  setImmediate(count === 0 ? act : () => afterTurns(count - 1, act))
}

/** The loop is one, so that its turns are those of the process. */
const loopTurns = createLoopTurns()

/** Resolves when it is the turn of the current owner (`turns/owner.ts`): before work of about a millisecond. */
export function nextTurn(): Promise<void> {
  return loopTurns.next(currentOwner().key)
}
