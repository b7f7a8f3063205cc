/**
 * The tasks of a dispatcher, each of which is a request that is due. The key of a task is its
 * endpoint or its workflow. The tasks are rows of the database; a task whose result was not
 * recorded is taken again.
 *
 * The tasks of a key form a line. This file decides how many requests each line may have in flight,
 * and whose turn it is.
 *
 *   width     requests of a line at a time: 10 at first, one more after each answer, up to 50; half
 *             after a time-out or a failed connection, so that a server that hangs soon holds one
 *   project   has at most 300 requests in flight
 *   all       at most 400 that are younger than two seconds, and 1,000 together. Lines that are known
 *             to be slow get no further request while 300 requests are older than that
 *   memory    tasks and requests take 64 MB. A project may have as much of it as it leaves free
 *             for others, so that no project whose servers hang takes all; one request it may always have
 *
 * Projects take turns, and so do the lines of a project.
 */
import { createFairQueue } from '../../../../turns/fair-queue.ts'

/** `id`: the id of an endpoint or of a workflow. */
export type TaskKey = { id: string; projectId: string }

export type RequestTask = {
  number: number
  /** The memory that the task takes. */
  bytes: number
  /** The further memory that the request takes, approximately, while it is in flight. */
  sentBytes: number
}

/** A result to record. */
export type DispatchResult = {
  number: number
  /** When the task is due again; null if it has ended. */
  dueAt: number | null
  /** Whether the server answered at all, with whatever status. */
  hasAnswered: boolean
}

/** `taken`: the numbers of tasks that were taken before and whose results are not recorded yet. */
export type TakeQuery = { taken: ReadonlySet<number>; limit: number; now: number }

/** `nextDueAt`: when another task of the key is due; null if none is waiting. */
export type TakenTasks<Item> = { tasks: Item[]; nextDueAt: number | null }

export type TaskSource<Item extends RequestTask, Result extends DispatchResult> = {
  /** For the log. */
  name: string
  /** The keys with waiting tasks, each with its earliest due time. */
  listKeys(): Promise<(TaskKey & { dueAt: number })[]>
  /** Returns due tasks in the order in which they start. */
  take(key: TaskKey, query: TakeQuery): Promise<TakenTasks<Item>>
  /**
   * Makes one request. Returns undefined for a task that is gone, or whose request was aborted: nothing
   * is recorded.
   */
  attempt(task: Item, signal: AbortSignal): Promise<Result | undefined>
  /** Records results in one transaction. May be called again with the same results if it fails. */
  record(results: readonly { key: TaskKey; result: Result }[]): Promise<void>
}

/** Merges two lists by taking from each in turn. */
export function inTurn<T>(one: readonly T[], other: readonly T[]): T[] {
  const length = Math.max(one.length, other.length)
  return Array.from({ length }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((item) => item !== undefined)
}

const MAX_WIDTH = 50
const FIRST_WIDTH = 10
const MAX_OF_PROJECT = 300
const MAX_YOUNG = 400
const MAX_STALLED = 300
const MAX_ACTIVE = 1_000
/** The most tasks of a line that are in flight or not recorded yet. */
const MAX_TAKEN = 4 * MAX_WIDTH
export const MAX_TASK_BYTES = 64 * 1024 * 1024

export type TaskLine<Item> = TaskKey & {
  width: number
  /** Tasks that were read and not started. */
  ready: Item[]
  /** The numbers of tasks that are in flight or not recorded yet. */
  taken: Set<number>
  active: number
  stalled: number
  /** When the next task that was not read yet is due, as far as is known; null if none is known. */
  dueAt: number | null
  isLoading: boolean
  /** Whether the tasks that are being read are to be dropped, because they changed meanwhile. */
  isStale: boolean
}

/** A task that has a place among those in flight. */
export type StartedTask<Item> = { line: TaskLine<Item>; task: Item; isStalled: boolean }

export type TaskLines<Item> = {
  /** The line of the key, which is made if absent. */
  open(key: TaskKey): TaskLine<Item>
  all(): Iterable<TaskLine<Item>>
  /** Whether any line may start a request now. */
  hasRoom(): boolean
  /** How many tasks of the line may be read now. */
  roomToRead(line: TaskLine<Item>): number
  addReady(line: TaskLine<Item>, tasks: readonly Item[]): void
  /**
   * Forgets tasks that were read and not started, except for the first `kept`. Returns how many it
   * forgot.
   */
  dropReady(line: TaskLine<Item>, kept: number): number
  /** Starts the next task whose turn it is; undefined if none may start. */
  startNext(): StartedTask<Item> | undefined
  /** Notes that the request has been in flight for two seconds. */
  stall(started: StartedTask<Item>): void
  end(started: StartedTask<Item>): void
  /** Forgets the line if it has nothing to do. */
  tidy(line: TaskLine<Item>): void
  active(): number
}

/** The use of a project: its requests in flight, and the memory of its tasks. */
type Share = { active: number; bytes: number }

export function createTaskLines<Item extends RequestTask>(): TaskLines<Item> {
  const lines = new Map<string, TaskLine<Item>>()
  /** Lines with tasks to start, each once; projects take turns. */
  const turns = createFairQueue<TaskLine<Item>>()
  const shares = new Map<string, Share>()
  let active = 0
  let stalled = 0
  let bytes = 0

  function hasRoom(): boolean {
    return active < MAX_ACTIVE && active - stalled < MAX_YOUNG
  }

  function hasOwnRoom(line: TaskLine<Item>): boolean {
    const isSlow = line.stalled > 0 || line.width < FIRST_WIDTH
    if (isSlow && stalled >= MAX_STALLED) return false
    if (shareOf(line).active >= MAX_OF_PROJECT) return false
    return line.active < line.width && line.taken.size < MAX_TAKEN
  }

  function shareOf({ projectId }: TaskKey): Share {
    return shares.get(projectId) ?? { active: 0, bytes: 0 }
  }

  function hasMemory(line: TaskLine<Item>, more: number): boolean {
    const share = shareOf(line)
    return share.active === 0 || share.bytes + more <= MAX_TASK_BYTES - bytes
  }

  function count(line: TaskLine<Item>, more: Share): void {
    active += more.active
    line.active += more.active
    bytes += more.bytes
    const share = shareOf(line)
    const next = { active: share.active + more.active, bytes: share.bytes + more.bytes }
    if (next.active === 0 && next.bytes === 0) shares.delete(line.projectId)
    else shares.set(line.projectId, next)
  }

  function mayStart(line: TaskLine<Item>): boolean {
    return hasOwnRoom(line) && hasMemory(line, line.ready[0]?.sentBytes ?? 0)
  }

  return {
    open(key) {
      const known = lines.get(key.id)
      if (known !== undefined) return known
      const line: TaskLine<Item> = {
        ...key,
        ...{ width: FIRST_WIDTH, ready: [], taken: new Set(), active: 0, stalled: 0 },
        ...{ dueAt: null, isLoading: false, isStale: false },
      }
      lines.set(key.id, line)
      return line
    },
    all: () => lines.values(),
    hasRoom,
    roomToRead(line) {
      if (!hasRoom() || !hasOwnRoom(line) || !hasMemory(line, 0)) return 0
      return Math.min(MAX_WIDTH, 2 * line.width)
    },
    addReady(line, tasks) {
      if (tasks.length === 0) return
      if (line.ready.length === 0) turns.add(line.projectId, line)
      line.ready.push(...tasks)
      count(line, { active: 0, bytes: bytesOf(tasks) })
    },
    dropReady(line, kept) {
      const dropped = line.ready.splice(kept)
      count(line, { active: 0, bytes: -bytesOf(dropped) })
      if (dropped.length > 0 && line.ready.length === 0) turns.takeOut((each) => each === line)
      return dropped.length
    },
    startNext() {
      const line = hasRoom() ? turns.take(mayStart) : undefined
      const task = line?.ready.shift()
      if (line === undefined || task === undefined) return undefined
      if (line.ready.length > 0) turns.add(line.projectId, line)
      count(line, { active: 1, bytes: task.sentBytes })
      line.taken.add(task.number)
      return { line, task, isStalled: false }
    },
    stall(started) {
      started.isStalled = true
      started.line.stalled += 1
      stalled += 1
    },
    end({ line, task, isStalled }) {
      count(line, { active: -1, bytes: -task.bytes - task.sentBytes })
      if (!isStalled) return
      line.stalled -= 1
      stalled -= 1
    },
    tidy(line) {
      const isBusy = line.isLoading || line.taken.size > 0 || line.ready.length > 0
      if (!isBusy && line.dueAt === null) lines.delete(line.id)
    },
    active: () => active,
  }
}

function bytesOf(tasks: readonly RequestTask[]): number {
  return tasks.reduce((total, { bytes }) => total + bytes, 0)
}

/** The width of a line after a result. */
export function nextWidth(width: number, hasAnswered: boolean): number {
  return hasAnswered ? Math.min(MAX_WIDTH, width + 1) : Math.max(1, Math.floor(width / 2))
}
