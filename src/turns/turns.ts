/**
 * Turns: shares a few places among projects. Each project has a line. A free place goes to the line
 * that has used the places for the shortest time, so that one project with much slow work delays
 * mostly itself, and a project that comes anew is next.
 *
 *   a line is full         the request is refused with RATE_LIMIT_EXCEEDED
 *   all lines are full     it is refused with EXTERNAL_SERVICE_ERROR; both say when to come back
 *   the client leaves      its waiting work leaves the line. Work that runs goes on to its end, in the
 *                          place of its project
 *   work of jobs           waits in the line of its project, but is never refused: a job has little
 *                          waiting work at a time
 *   more work of a request that has had a place waits, and is not refused
 */
import { AppError } from '../errors.ts'
import { currentOwner, SYSTEM, type WorkOwner } from './owner.ts'

export type TurnsOptions = {
  /** Places. */
  atOnce: number
  /** Places that one project may have at once; all of them if absent. */
  atOncePerProject?: number
  /** How much work of requests may wait. */
  waitingPerProject: number
  waiting: number
  /** For the refusal, as in "wait to be rendered". */
  to: string
  retryAfterSeconds: number
  /** For tests: ms. */
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

type Waiting = { owner: WorkOwner; begin(): void; refuse(error: unknown): void }

type Line = {
  key: string
  waiting: Waiting[]
  running: number
  usedMs: number
  /** The number of its last turn. */
  lastTurn: number
}

export function createTurns(options: TurnsOptions): Turns {
  const { atOnce, atOncePerProject = atOnce, clock = () => performance.now() } = options
  /** Those with work. */
  const lines = new Map<string, Line>()
  /** Requests that have had a place. */
  const admitted = new WeakSet<WorkOwner>([SYSTEM])
  let running = 0
  let turns = 0
  let stopError: Error | undefined

  function lineOf(key: string): Line {
    const known = lines.get(key)
    if (known !== undefined) return known
    const usedMs = Math.min(...lines.values().map((line) => line.usedMs))
    const line = { key, waiting: [], running: 0, lastTurn: 0 }
    const own: Line = { ...line, usedMs: Number.isFinite(usedMs) ? usedMs : 0 }
    lines.set(key, own)
    return own
  }

  function close(line: Line): void {
    if (line.waiting.length === 0 && line.running === 0) lines.delete(line.key)
  }

  function countWaiting(only?: Line): number {
    let count = 0
    for (const line of only === undefined ? lines.values() : [only])
      for (const { owner } of line.waiting) if (!owner.isJob && owner !== SYSTEM) count += 1
    return count
  }

  function refusal(owner: WorkOwner, line: Line): Error | undefined {
    if (stopError !== undefined) return stopError
    if (owner.client?.hasLeft() === true) return clientLeft()
    if (owner.isJob || admitted.has(owner)) return undefined
    if (countWaiting(line) >= options.waitingPerProject) return ofProject(options)
    return countWaiting() >= options.waiting ? ofAll(options) : undefined
  }

  function place(owner: WorkOwner): Promise<Line> | Line {
    const line = lineOf(owner.key)
    if (line.waiting.length === 0 && isFreeFor(line) && stopError === undefined) {
      return occupy(line, owner)
    }
    const error = refusal(owner, line)
    if (error !== undefined) {
      close(line)
      throw error
    }
    return wait(owner, line)
  }

  function isFreeFor(line: Line): boolean {
    return running < atOnce && line.running < atOncePerProject
  }

  function occupy(line: Line, owner: WorkOwner): Line {
    running += 1
    line.running += 1
    line.lastTurn = ++turns
    admitted.add(owner)
    return line
  }

  function wait(owner: WorkOwner, line: Line): Promise<Line> {
    const { promise, resolve, reject } = Promise.withResolvers<Line>()
    const leave = (): void => {
      line.waiting.splice(line.waiting.indexOf(waiting), 1)
      close(line)
      reject(clientLeft())
    }
    const stay = owner.client?.onLeave(leave)
    const waiting: Waiting = {
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

  function pass(line: Line, usedMs: number): void {
    running -= 1
    line.running -= 1
    line.usedMs += usedMs
    close(line)
    for (let next = nextLine(); next !== undefined; next = nextLine()) next.waiting.shift()?.begin()
  }

  /** The line whose turn it is; undefined without a free place or waiting work for it. */
  function nextLine(): Line | undefined {
    let best: Line | undefined
    for (const line of lines.values()) {
      if (line.waiting.length === 0 || !isFreeFor(line)) continue
      if (best === undefined || comesBefore(line, best)) best = line
    }
    return best
  }

  return {
    async take(work) {
      const owner = currentOwner()
      const given = place(owner)
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
      for (const line of [...lines.values()]) {
        for (const { refuse } of line.waiting.splice(0)) refuse(error)
        close(line)
      }
    },
    waiting: () => lines.values().reduce((sum, line) => sum + line.waiting.length, 0),
  }
}

function comesBefore(one: Line, other: Line): boolean {
  if (one.usedMs !== other.usedMs) return one.usedMs < other.usedMs
  return one.lastTurn < other.lastTurn
}

function ofProject({ to, retryAfterSeconds }: TurnsOptions): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', `Too many requests of this project wait ${to}.`, {
    details: { retryAfter: retryAfterSeconds },
  })
}

function ofAll({ to, retryAfterSeconds }: TurnsOptions): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', `Too many requests wait ${to} at the moment.`, {
    details: { retryAfter: retryAfterSeconds },
    isOverload: true,
  })
}

function clientLeft(): AppError {
  return new AppError('REQUEST_TIMEOUT', 'The client has disconnected.')
}
