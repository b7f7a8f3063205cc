/**
 * Turns of the event loop for work that many do at once: at most one of them works in a turn of the loop,
 * and some turns in between are of others. The lines take turns, so that a long line delays mostly itself.
 *
 * In a line, the work that began first goes on, a few at a time, before later work begins: what work has read
 * and made stays in memory between its turns, so the more are begun, the more the collector of garbage has to
 * go through. Work that asks for no turn, because its client takes nothing, holds nobody up.
 */
import { createFairQueue } from '../turns/fair-queue.ts'
import { currentOwner, type WorkOwner } from '../turns/owner.ts'

/**
 * How many turns of the event loop are left to other work between two turns of these lines, so that short work,
 * which takes several turns, is not slowed by each.
 */
const TURNS_OF_OTHERS = 2
/** How many pieces of work of one line take turns at the same time. */
export const AT_ONCE = 16
/**
 * One turn of a line in so many goes to the work that has waited longest, however late this work began:
 * long work would otherwise block it.
 */
const TURNS_BY_AGE = 16

type LoopTurns = {
  /** Resolves when it is the owner's turn. */
  next(owner: WorkOwner): Promise<void>
}

/** `age`: lower for work that asked for its first turn earlier. */
type WaitingTurn = { age: number; begin(): void }
/** `taken`: turns since the line began to wait. */
type TurnLine = { waiting: WaitingTurn[]; taken: number }

export function createLoopTurns(): LoopTurns {
  /** The lines with waiting work. An entry stands for the next piece of work of its line. */
  const turns = createFairQueue<string>()
  const lines = new Map<string, TurnLine>()
  const ages = new WeakMap<WorkOwner, number>()
  let lastAge = 0
  let isScheduled = false

  function ageOf(owner: WorkOwner): number {
    const known = ages.get(owner)
    if (known !== undefined) return known
    lastAge += 1
    ages.set(owner, lastAge)
    return lastAge
  }

  function schedule(): void {
    if (isScheduled || turns.isEmpty()) return
    isScheduled = true
    afterTurns(TURNS_OF_OTHERS, () => {
      isScheduled = false
      const key = turns.take()
      if (key !== undefined) takeFrom(key)?.begin()
      schedule()
    })
  }

  /** Removes and returns the piece that has waited longest among the oldest work of the line. */
  function takeFrom(key: string): WaitingTurn | undefined {
    const line = lines.get(key)
    if (line === undefined) return undefined
    const { waiting } = line
    line.taken += 1
    const youngest =
      line.taken % TURNS_BY_AGE === 0 ? Number.POSITIVE_INFINITY : youngestOf(waiting)
    const [taken] = waiting.splice(
      waiting.findIndex(({ age }) => age <= youngest),
      1,
    )
    if (waiting.length === 0) lines.delete(key)
    return taken
  }

  return {
    next: (owner) =>
      new Promise((begin) => {
        const { key } = owner
        const waiting = { age: ageOf(owner), begin }
        const line = lines.get(key)
        if (line === undefined) lines.set(key, { waiting: [waiting], taken: 0 })
        else line.waiting.push(waiting)
        turns.add(key, key)
        schedule()
      }),
  }
}

/** The age of the youngest work that takes turns. */
function youngestOf(waiting: readonly WaitingTurn[]): number {
  const ages = waiting.map(({ age }) => age).sort((one, other) => one - other)
  return ages[AT_ONCE - 1] ?? Number.POSITIVE_INFINITY
}

/** An immediate that is set in another one runs in the next turn of the loop. */
function afterTurns(count: number, act: () => void): void {
  setImmediate(count === 0 ? act : () => afterTurns(count - 1, act))
}

/** There is one object for the process, because the process has one event loop. */
const loopTurns = createLoopTurns()

/**
 * Resolves when it is the turn of the current owner (`turns/owner.ts`). Call it before each piece of work
 * of about a millisecond.
 */
export function nextTurn(): Promise<void> {
  return loopTurns.next(currentOwner())
}
