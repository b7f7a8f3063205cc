/**
 * Whose write is next. Light writes stand in one line and share groups (group.ts). A heavy one, of
 * more than some milliseconds, makes a group of its own, when no light one waits, or when the light
 * ones have had as much time as the last heavy one took: so a light one waits for one heavy one, not
 * for all of them, and no flood of either stops the other. Heavy ones stand in a line for each of
 * whom they are, and the lines take turns.
 *
 * After a heavy one the event loop turns a few times: it takes one new connection a turn, and who
 * comes behind a flood of heavy requests would wait for as many heavy writes.
 */

import { createLines } from '../read/lines.ts'
import type { Request } from './group.ts'

export type WriteQueue = {
  /** `heavyFor`: whose heavy line; undefined for a light one. */
  add(request: Request, heavyFor: string | undefined): void
  /** Whether the loop is to turn once more before the next group. */
  mustTurn(): boolean
  /** What the next group takes from the front of, and puts back what is to run again. */
  next(): Request[]
  /** How long that group took. */
  took(ms: number): void
  isEmpty(): boolean
  /** Takes out what was queued then or before. */
  takeQueuedUntil(instant: number): Request[]
}

/** After a heavy write, unless light ones come. */
const TURNS = 8

export function createWriteQueue(): WriteQueue {
  const light: Request[] = []
  const heavy = createLines<Request>()
  let isHeavy = false
  let turnsLeft = 0
  let heavyMs = 0
  /** Since the last heavy one; undefined before they have had a group. */
  let lightMs: number | undefined

  return {
    add(request, heavyFor) {
      if (heavyFor === undefined) light.push(request)
      else heavy.add(heavyFor, request)
    },
    mustTurn() {
      if (light.length > 0 || turnsLeft === 0) return false
      turnsLeft -= 1
      return true
    },
    next() {
      const isTheirs = light.length === 0 || (lightMs !== undefined && lightMs >= heavyMs)
      const first = isTheirs ? heavy.take() : undefined
      isHeavy = first !== undefined
      return first === undefined ? light : [first]
    },
    took(ms) {
      if (isHeavy) heavyMs = ms
      turnsLeft = isHeavy ? TURNS : 0
      lightMs = isHeavy ? undefined : (lightMs ?? 0) + ms
    },
    isEmpty: () => light.length === 0 && heavy.isEmpty(),
    takeQueuedUntil(instant) {
      const isOver = ({ queuedAt }: Request) => queuedAt <= instant
      const firstLeft = light.findIndex((request) => !isOver(request))
      const over = light.splice(0, firstLeft === -1 ? light.length : firstLeft)
      return [...over, ...heavy.takeOut(isOver)]
    },
  }
}
