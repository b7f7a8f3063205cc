/**
 * Turns: shares a few places among projects. Each project has a line, and the lines take turns, so that one
 * project with much slow work delays mostly itself.
 *
 *   a line is full         the request is refused with RATE_LIMIT_EXCEEDED
 *   all lines are full     it is refused with EXTERNAL_SERVICE_ERROR; both say when to come back
 *   the client leaves      its waiting work leaves the line. Work that runs goes on to its end, in the
 *                          place of its project
 *   work of jobs           waits in the line of its project, but is never refused: a job has little
 *                          waiting work at a time
 *   more work of a request that has had a place, or has changed something, waits, and is not refused
 *
 * Of the lines that may have another place, the next turn is of the line with the fewest places, then of the line
 * that has used places for the shortest time, then of the line whose last turn is the longest ago.
 *
 * A line that comes anew begins a little ahead of the others, so that it is next, and a line keeps what it
 * has used while that matters: a project that asks again after each answer has no advantage over
 * projects that wait (start-time fair queueing, Goyal, Vin and Cheng, 1996). A part of the time
 * that younger lines use is taken off the time of a line that waits, so that any number of new lines passes it for
 * a while only. So every line has its turn.
 *
 * The fair queue (`fair-queue.ts`) counts turns only: there one with slow work would take most of the time.
 */
import { AppError } from '../base/errors.ts'
import { clientLeft, currentOwner, SYSTEM_OWNER, type WorkOwner } from './owner.ts'

/** How much work of requests may wait. */
export type WaitingLimits = {
  waitingPerProject: number
  waiting: number
  /**
   * The purpose of the wait, for the text of the refusal: "Too many of your requests wait to be rendered."
   */
  to: string
  retryAfterSeconds: number
}

export type TurnsOptions = WaitingLimits & {
  /** The number of places. */
  atOnce: number
  /** Places that one project may have at once; all of them if absent. */
  atOncePerProject?: number
  /** A clock in ms, for tests. */
  clock?: () => number
}

export type Turns = {
  /**
   * Runs `work` when it is the turn of the current owner (`owner.ts`), and settles as `work` does.
   * @throws AppError RATE_LIMIT_EXCEEDED, EXTERNAL_SERVICE_ERROR; REQUEST_TIMEOUT when the client has
   *   left; the error given to `stop`
   */
  take<T>(work: () => Promise<T>): Promise<T>
  /** Refuses waiting and later work. Work that runs goes on. */
  stop(error: Error): void
  waiting(): number
}

type WaitingWork = { owner: WorkOwner; begin(): void; refuse(error: unknown): void }

type Line<Work> = {
  readonly key: string
  readonly waiting: Work[]
  running: number
  /** The time for which the line has used places, plus the time that the line began with. */
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

type Lines<Work> = {
  /** The line for new work. */
  open(key: string): Line<Work>
  /** Call this when the line gets a place. */
  begin(line: Line<Work>): void
  /** Call this when the line gives the place back. */
  end(line: Line<Work>, usedMs: number): void
  /** Call this when work has left a line that has no place. */
  tidy(): void
  /** The line whose turn it is, among the lines with waiting work for which `mayBegin` is true. */
  next(mayBegin: (line: Line<Work>) => boolean): Line<Work> | undefined
  all(): Iterable<Line<Work>>
}

/** The time of a new line begins this far below that of the latest turn, so that the new line is next. */
const ADVANCE_MS = 2_000
/** The least time that a turn counts. */
const LEAST_MS = 1
/** The part of the time of younger lines that is taken off the time of a line that waits. */
const PASSED_SHARE = 1 / 4

export function createTurns(options: TurnsOptions): Turns {
  const { atOnce, atOncePerProject = atOnce, clock = () => performance.now() } = options
  const lines = createLines<WaitingWork>()
  /** Requests that have had a place. */
  const admitted = new WeakSet<WorkOwner>([SYSTEM_OWNER])
  let running = 0
  let stopError: Error | undefined

  const isFreeFor = (line: Line<WaitingWork>) => running < atOnce && line.running < atOncePerProject

  /** Throws if the work neither begins nor waits. */
  function admit(owner: WorkOwner, line: Line<WaitingWork>): void {
    if (stopError !== undefined) throw stopError
    if (owner.client?.hasLeft() === true) throw clientLeft()
    if (line.waiting.length === 0 && isFreeFor(line)) return
    if (owner.isJob || owner.hasChanged === true || admitted.has(owner)) return
    const inAll = countRequests(lines.all())
    refuseFull(options, { ofProject: countRequests([line]), inAll })
  }

  function place(owner: WorkOwner): Promise<Line<WaitingWork>> | Line<WaitingWork> {
    const line = lines.open(owner.key)
    try {
      admit(owner, line)
    } catch (error) {
      lines.tidy()
      throw error
    }
    // Work that waits for the turn of its line goes first: later work does not overtake it.
    if (line.waiting.length === 0 && isFreeFor(line)) return occupy(line, owner)
    return wait(owner, line)
  }

  function occupy(line: Line<WaitingWork>, owner: WorkOwner): Line<WaitingWork> {
    running += 1
    lines.begin(line)
    admitted.add(owner)
    return line
  }

  function wait(owner: WorkOwner, line: Line<WaitingWork>): Promise<Line<WaitingWork>> {
    const { promise, resolve, reject } = Promise.withResolvers<Line<WaitingWork>>()
    const leave = (): void => {
      line.waiting.splice(line.waiting.indexOf(waiting), 1)
      lines.tidy()
      reject(clientLeft())
    }
    const stay = owner.client?.onLeave(leave)
    const waiting: WaitingWork = {
      owner,
      begin() {
        stay?.()
        resolve(occupy(line, owner))
      },
      refuse(error) {
        stay?.()
        reject(error)
      },
    }
    line.waiting.push(waiting)
    return promise
  }

  function pass(line: Line<WaitingWork>, usedMs: number): void {
    running -= 1
    lines.end(line, usedMs)
    for (;;) {
      const next = lines.next(isFreeFor)
      if (next === undefined) return
      next.waiting.shift()?.begin()
    }
  }

  return {
    async take(work) {
      const given = place(currentOwner())
      // If there is a free place, the work begins before `take` returns.
      const line = given instanceof Promise ? await given : given
      const begunAt = clock()
      try {
        if (stopError !== undefined) throw stopError
        return await work()
      } finally {
        pass(line, clock() - begunAt)
      }
    },
    stop(error) {
      stopError = error
      for (const line of lines.all()) for (const { refuse } of line.waiting.splice(0)) refuse(error)
      lines.tidy()
    },
    waiting: () => [...lines.all()].reduce((sum, line) => sum + line.waiting.length, 0),
  }
}

/** Counts the waiting work of requests: any number of jobs, and of the server's own work, may wait. */
function countRequests(lines: Iterable<Line<WaitingWork>>): number {
  let count = 0
  for (const line of lines)
    for (const { owner } of line.waiting) if (!owner.isJob && owner !== SYSTEM_OWNER) count += 1
  return count
}

/** @throws AppError RATE_LIMIT_EXCEEDED, EXTERNAL_SERVICE_ERROR when no more work may wait */
export function refuseFull(
  { waitingPerProject, waiting, to, retryAfterSeconds }: WaitingLimits,
  { ofProject, inAll }: { ofProject: number; inAll: number },
): void {
  const details = { retryAfter: retryAfterSeconds }
  if (ofProject >= waitingPerProject) {
    throw new AppError('RATE_LIMIT_EXCEEDED', `Too many of your requests wait ${to}.`, { details })
  }
  if (inAll < waiting) return
  const message = `Too many requests wait ${to} at the moment.`
  throw new AppError('EXTERNAL_SERVICE_ERROR', message, { details, isOverload: true })
}

function createLines<Work>(): Lines<Work> {
  const lines = new Map<string, Line<Work>>()
  /** The `usedMs` that the line of the latest turn had before that turn; it never falls. */
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
