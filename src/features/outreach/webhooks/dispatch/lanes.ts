/**
 * The lanes of a dispatcher: how many requests each may have in flight, and whose turn it is.
 *
 *   width     requests of a lane at a time: 10 at first, one more after each answer, up to 50; half
 *             after a time-out or a failed connection, so that a server that hangs soon holds one
 *   project   has at most 300 requests in flight
 *   all       at most 400 that are younger than two seconds, and 1,000 together. Lanes that are known
 *             to be slow get no further request while 300 requests are older than that
 *   memory    tasks and requests take 64 MB. A project may have as much of it as it leaves free for
 *             others, so that no project whose servers hang takes all; one request it may always have
 *
 * Projects take turns, and so do the lanes of a project.
 */
import { createFairQueue } from '../../../../turns/fair-queue.ts'
import type { LaneKey, Task } from './task-source.ts'

export const MAX_WIDTH = 50
const FIRST_WIDTH = 10
const MAX_OF_PROJECT = 300
const MAX_YOUNG = 400
const MAX_STALLED = 300
const MAX_ACTIVE = 1_000
/** Requests that were answered and are not recorded yet, beside those in flight. */
const MAX_HELD = 4 * MAX_WIDTH
export const MAX_BYTES = 64 * 1024 * 1024

export type Lane<Item> = LaneKey & {
  width: number
  /** Tasks that were read and not started. */
  ready: Item[]
  /** Tasks in flight, or not recorded yet. */
  held: Set<number>
  active: number
  stalled: number
  /** When a task that was not read is due, as far as known. */
  dueAt: number | null
  isLoading: boolean
  /** What is being read is void. */
  isStale: boolean
}

/** A task that has a place among those in flight. */
export type Started<Item> = { lane: Lane<Item>; task: Item; isStalled: boolean }

export type Lanes<Item> = {
  /** The lane of the key, which is made if absent. */
  open(key: LaneKey): Lane<Item>
  all(): Iterable<Lane<Item>>
  /** Whether any lane may start a request now. */
  hasRoom(): boolean
  /** How many tasks of the lane may be read now. */
  roomToRead(lane: Lane<Item>): number
  addReady(lane: Lane<Item>, tasks: readonly Item[]): void
  /** Forgets tasks that were read and not started, but for the first `kept`. Returns how many. */
  dropReady(lane: Lane<Item>, kept: number): number
  /** Starts the next task whose turn it is; undefined if none may start. */
  startNext(): Started<Item> | undefined
  /** The request has been in flight for two seconds. */
  stall(started: Started<Item>): void
  end(started: Started<Item>): void
  /** Forgets the lane if it has nothing to do. */
  tidy(lane: Lane<Item>): void
  active(): number
}

/** What a project has. */
type Share = { active: number; bytes: number }

export function createLanes<Item extends Task>(): Lanes<Item> {
  const lanes = new Map<string, Lane<Item>>()
  /** Lanes with tasks to start, each once; its keys are projects. */
  const turns = createFairQueue<Lane<Item>>()
  const shares = new Map<string, Share>()
  let active = 0
  let stalled = 0
  let bytes = 0

  function hasRoom(): boolean {
    return active < MAX_ACTIVE && active - stalled < MAX_YOUNG
  }

  function hasOwnRoom(lane: Lane<Item>): boolean {
    const isSlow = lane.stalled > 0 || lane.width < FIRST_WIDTH
    if (isSlow && stalled >= MAX_STALLED) return false
    if (shareOf(lane).active >= MAX_OF_PROJECT) return false
    return lane.active < lane.width && lane.held.size < MAX_HELD
  }

  function shareOf({ projectId }: LaneKey): Share {
    return shares.get(projectId) ?? { active: 0, bytes: 0 }
  }

  function hasMemory(lane: Lane<Item>, more: number): boolean {
    const share = shareOf(lane)
    return share.active === 0 || share.bytes + more <= MAX_BYTES - bytes
  }

  function count(lane: Lane<Item>, more: Share): void {
    active += more.active
    lane.active += more.active
    bytes += more.bytes
    const share = shareOf(lane)
    const next = { active: share.active + more.active, bytes: share.bytes + more.bytes }
    if (next.active === 0 && next.bytes === 0) shares.delete(lane.projectId)
    else shares.set(lane.projectId, next)
  }

  function mayStart(lane: Lane<Item>): boolean {
    return hasOwnRoom(lane) && hasMemory(lane, lane.ready[0]?.sentBytes ?? 0)
  }

  return {
    open(key) {
      const known = lanes.get(key.key)
      if (known !== undefined) return known
      const lane: Lane<Item> = {
        ...key,
        ...{ width: FIRST_WIDTH, ready: [], held: new Set(), active: 0, stalled: 0 },
        ...{ dueAt: null, isLoading: false, isStale: false },
      }
      lanes.set(key.key, lane)
      return lane
    },
    all: () => lanes.values(),
    hasRoom,
    roomToRead(lane) {
      if (!hasRoom() || !hasOwnRoom(lane) || !hasMemory(lane, 0)) return 0
      return Math.min(MAX_WIDTH, 2 * lane.width)
    },
    addReady(lane, tasks) {
      if (tasks.length === 0) return
      if (lane.ready.length === 0) turns.add(lane.projectId, lane)
      lane.ready.push(...tasks)
      count(lane, { active: 0, bytes: bytesOf(tasks) })
    },
    dropReady(lane, kept) {
      const dropped = lane.ready.splice(kept)
      count(lane, { active: 0, bytes: -bytesOf(dropped) })
      if (dropped.length > 0 && lane.ready.length === 0) turns.takeOut((each) => each === lane)
      return dropped.length
    },
    startNext() {
      const lane = hasRoom() ? turns.take(mayStart) : undefined
      const task = lane?.ready.shift()
      if (lane === undefined || task === undefined) return undefined
      if (lane.ready.length > 0) turns.add(lane.projectId, lane)
      count(lane, { active: 1, bytes: task.sentBytes })
      lane.held.add(task.number)
      return { lane, task, isStalled: false }
    },
    stall(started) {
      started.isStalled = true
      started.lane.stalled += 1
      stalled += 1
    },
    end({ lane, task, isStalled }) {
      count(lane, { active: -1, bytes: -task.bytes - task.sentBytes })
      if (!isStalled) return
      lane.stalled -= 1
      stalled -= 1
    },
    tidy(lane) {
      const isBusy = lane.isLoading || lane.held.size > 0 || lane.ready.length > 0
      if (!isBusy && lane.dueAt === null) lanes.delete(lane.key)
    },
    active: () => active,
  }
}

function bytesOf(tasks: readonly Task[]): number {
  return tasks.reduce((total, { bytes }) => total + bytes, 0)
}

/** The width of a lane after a result. */
export function nextWidth(width: number, hasAnswered: boolean): number {
  return hasAnswered ? Math.min(MAX_WIDTH, width + 1) : Math.max(1, Math.floor(width / 2))
}
