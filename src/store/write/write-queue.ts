/**
 * The order of writes. Light writes wait in one line and share groups (group.ts). A heavy write,
 * which takes more than a few milliseconds, has a group of its own. It runs when no light write
 * waits, or when light writes have had as much time as the last heavy write took. So a light write
 * waits for one heavy write at most, and many writes of one kind do not stop the other. The owners of
 * heavy writes take turns (`turns/fair-queue.ts`).
 *
 * After a heavy write the event loop turns a few times, because it accepts one connection a turn: a
 * client behind many heavy requests would otherwise wait for as many heavy writes.
 */

import { createFairQueue } from '../../turns/fair-queue.ts'
import { countCallers, type WriteRequest } from './group.ts'

type WriteQueue = {
  /** `heavyFor`: the owner of a heavy write; undefined for a light one. */
  add(request: WriteRequest, heavyFor: string | undefined): void
  /** Whether the event loop should turn once more before the next group. */
  mustYield(): boolean
  /**
   * The queue for the next group, which takes requests from its front and puts back those to run
   * again.
   */
  next(): WriteRequest[]
  /** Records the duration of the group that `next` started. */
  took(ms: number): void
  isEmpty(): boolean
  /**
   * When the next group begins at the latest. This time is over unless all requests are patient.
   */
  dueAt(): number
  /**
   * How many callers a group of light requests would have; undefined if the next group may not wait for
   * more, because there are heavy requests, or requests that run again.
   */
  callers(): number | undefined
  /** Removes and returns the requests that were queued at `instant` or before. */
  takeQueuedUntil(instant: number): WriteRequest[]
}

/** Turns of the event loop after a heavy write, unless light writes arrive. */
const YIELDS = 8

export function createWriteQueue(): WriteQueue {
  const light: WriteRequest[] = []
  const heavy = createFairQueue<WriteRequest>()
  let isHeavy = false
  let yieldsLeft = 0
  let heavyMs = 0
  /** The time of light writes since the last heavy one; undefined before their first group. */
  let lightMs: number | undefined

  return {
    add(request, heavyFor) {
      if (heavyFor === undefined) light.push(request)
      else heavy.add(heavyFor, request)
    },
    mustYield() {
      if (light.length > 0 || yieldsLeft === 0) return false
      yieldsLeft -= 1
      return true
    },
    next() {
      const isHeavyNext = light.length === 0 || (lightMs !== undefined && lightMs >= heavyMs)
      const first = isHeavyNext ? heavy.take() : undefined
      isHeavy = first !== undefined
      return first === undefined ? light : [first]
    },
    took(ms) {
      if (isHeavy) heavyMs = ms
      yieldsLeft = isHeavy ? YIELDS : 0
      lightMs = isHeavy ? undefined : (lightMs ?? 0) + ms
    },
    callers: () =>
      heavy.isEmpty() && light[0]?.isSecondRun === false ? countCallers(light) : undefined,
    isEmpty: () => light.length === 0 && heavy.isEmpty(),
    dueAt() {
      if (!heavy.isEmpty()) return 0
      return light.reduce((first, { dueAt }) => Math.min(first, dueAt), Number.POSITIVE_INFINITY)
    },
    takeQueuedUntil(instant) {
      const isOver = ({ queuedAt }: WriteRequest) => queuedAt <= instant
      const firstLeft = light.findIndex((request) => !isOver(request))
      const over = light.splice(0, firstLeft === -1 ? light.length : firstLeft)
      return [...over, ...heavy.takeOut(isOver)]
    },
  }
}
