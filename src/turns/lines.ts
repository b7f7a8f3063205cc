/**
 * The lines of waiting work, one for each project, and whose turn it is: of the lines that may have
 * another place, first the one with the fewest places, then the one that has used places for the
 * shortest time, then the one whose last turn is the longest ago.
 *
 * A line that comes anew begins a little ahead of the others, so that it is next, and a line keeps what it
 * has used while that matters: a project that asks again after each answer has no advantage over
 * projects that wait (start-time fair queueing, Goyal, Vin and Cheng, 1996). A part of what lines use that came
 * later than another one's wait is taken off that one: any number of new lines passes it for a while only. So
 * every line has its turn.
 *
 * The fair queue (`fair-queue.ts`) counts turns only: there one with slow work would take most of the time.
 */

export type Line<Work> = {
  readonly key: string
  readonly waiting: Work[]
  running: number
  /** The time for which the line has used places, with what it began with. */
  usedMs: number
  /** The number of its last turn; 0 = none. */
  lastTurn: number
  /**
   * `bornAt`: the number of lines that existed when this line was made. `waitsFrom`: their number when its
   * wait for the next turn began.
   */
  readonly bornAt: number
  waitsFrom: number
}

export type Lines<Work> = {
  /** The line for new work. */
  open(key: string): Line<Work>
  /** Call this when the line gets a place. */
  begin(line: Line<Work>): void
  /** Call this when the line gives the place back. */
  end(line: Line<Work>, usedMs: number): void
  /** Call this when work has left a line that has no place. */
  tidy(): void
  /** The line whose turn it is, of those that wait and `mayBegin`. */
  next(mayBegin: (line: Line<Work>) => boolean): Line<Work> | undefined
  all(): Iterable<Line<Work>>
}

/** How far ahead of the others a line begins. */
const ADVANCE_MS = 2_000
/** The least time that a turn counts. */
const LEAST_MS = 1
/** The part of the time of younger lines that is taken off the time of a line that waits. */
const PASSED_SHARE = 1 / 4

export function createLines<Work>(): Lines<Work> {
  const lines = new Map<string, Line<Work>>()
  /** The time that the line of the latest turn had used before; it never falls. */
  let reachedMs = 0
  let turns = 0
  let born = 0

  /** Forgets idle lines whose use no longer matters. */
  function tidy(): void {
    const isQuiet = lines.values().every(isIdle)
    for (const line of lines.values()) {
      const matters = !isQuiet && line.usedMs > reachedMs - ADVANCE_MS
      if (isIdle(line) && !matters) lines.delete(line.key)
    }
  }

  return {
    open(key) {
      const known = lines.get(key)
      const line = known ?? newLine<Work>(key, ++born)
      const isNew = known === undefined
      lines.set(key, line)
      const leastMs = reachedMs - ADVANCE_MS
      if (line.waiting.length === 0) line.waitsFrom = born
      if (isIdle(line)) line.usedMs = isNew ? leastMs : Math.max(line.usedMs, leastMs)
      return line
    },
    begin(line) {
      line.running += 1
      line.lastTurn = ++turns
      line.waitsFrom = born
      reachedMs = Math.max(reachedMs, line.usedMs)
    },
    end(line, usedMs) {
      const countedMs = Math.max(LEAST_MS, usedMs)
      line.running -= 1
      line.usedMs += countedMs
      for (const other of lines.values()) {
        const isPassed = other.waiting.length > 0 && other.waitsFrom < line.bornAt
        if (isPassed) other.usedMs -= countedMs * PASSED_SHARE
      }
      tidy()
    },
    tidy,
    next(mayBegin) {
      let best: Line<Work> | undefined
      for (const line of lines.values()) {
        if (line.waiting.length === 0 || !mayBegin(line)) continue
        if (best === undefined || comesBefore(line, best)) best = line
      }
      return best
    },
    all: () => lines.values(),
  }
}

function newLine<Work>(key: string, bornAt: number): Line<Work> {
  return { key, waiting: [], running: 0, usedMs: 0, lastTurn: 0, bornAt, waitsFrom: bornAt }
}

function isIdle({ waiting, running }: Line<unknown>): boolean {
  return waiting.length === 0 && running === 0
}

function comesBefore(one: Line<unknown>, other: Line<unknown>): boolean {
  if (one.running !== other.running) return one.running < other.running
  if (one.usedMs !== other.usedMs) return one.usedMs < other.usedMs
  return one.lastTurn < other.lastTurn
}
