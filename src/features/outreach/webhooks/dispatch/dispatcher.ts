/**
 * Sends the tasks of a source (`task-source.ts`), many at a time, each lane by itself (`lanes.ts`). The
 * tasks of a lane start in order, and one that fails holds back no other.
 *
 * Memory is bounded however many tasks wait: a lane reads a small page of them when it may start
 * some, and the numbers of those in flight are kept until their results are recorded. Results are recorded
 * in batches. Nothing is written before a request, so a crash repeats the requests in flight, under
 * the same ids.
 *
 * A lane is read when a notice says that tasks are due, and when the earliest due time has come. All
 * lanes are listed at the start, after a change by another process, and each minute, so that a
 * clock that jumps delays nothing by more than that.
 */
import { setMaxListeners } from 'node:events'
import { MINUTE_MS, type Now, SECOND_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { Log } from '../../../../base/log.ts'
import { startLoop } from '../../../../work/loop.ts'
import { createLanes, type Lane, nextWidth, type Started } from './lanes.ts'
import type { LaneKey, Task, TaskResult, TaskSource } from './task-source.ts'

export type Dispatcher = {
  /** Tasks of the lane are due at `dueAt`. */
  notify(lane: LaneKey, dueAt: number): void
  /** What was read of the lane is void; it is read again. */
  refresh(lane: LaneKey): void
  /** Lists all lanes again. */
  reload(): void
  /** Starts no further requests, aborts those that do not end soon, and records all results. */
  stop(graceMs: number): Promise<void>
}

type Deps = { log: Log; now: Now }
type Waiting<Result> = { lane: LaneKey; result: Result }

const STALL_MS = 2 * SECOND_MS
/** After a failure of the database. */
const RETRY_MS = SECOND_MS
const MAX_WAIT_MS = MINUTE_MS
const MIN_WAIT_MS = 5
/** Lanes that are read at the same time. */
const MAX_LOADS = 4
const MAX_BATCH = 256
/** Results that arrive within this time are recorded together. */
const LINGER_MS = 10
/** How long requests may still take at a stop. */
const STOP_MS = 3 * SECOND_MS

export function startDispatcher<Item extends Task, Result extends TaskResult>(
  { log, now }: Deps,
  source: TaskSource<Item, Result>,
): Dispatcher {
  const lanes = createLanes<Item>()
  const toLoad = new Set<Lane<Item>>()
  const aborting = new AbortController()
  setMaxListeners(0, aborting.signal)
  const unrecorded: Waiting<Result>[] = []
  let recording: Promise<void> | undefined
  let loads = 0
  let isPumping = false
  let isStopping = false
  let idle: (() => void) | undefined
  let listedAt = performance.now()

  function pump(): void {
    if (isPumping || isStopping) return
    isPumping = true
    setImmediate(() => {
      isPumping = false
      if (isStopping) return
      startTasks()
      startLoads()
    })
  }

  function startTasks(): void {
    for (;;) {
      const started = lanes.startNext()
      if (started === undefined) return
      run(started)
      consider(started.lane)
    }
  }

  async function run(started: Started<Item>): Promise<void> {
    const { lane, task } = started
    const stalls = setTimeout(lanes.stall, STALL_MS, started)
    const result = await attempt(lane, task)
    clearTimeout(stalls)
    lanes.end(started)
    if (result === undefined) lane.held.delete(task.number)
    else {
      setWidth(lane, nextWidth(lane.width, result.hasAnswered))
      unrecorded.push({ lane, result })
      record()
    }
    consider(lane)
    pump()
    if (lanes.active() === 0) idle?.()
  }

  /** A lane that gets slower keeps fewer tasks in memory; the others are read again. */
  function setWidth(lane: Lane<Item>, width: number): void {
    const isSlower = width < lane.width
    lane.width = width
    if (isSlower && lanes.dropReady(lane, 2 * width) > 0) lane.dueAt = 0
  }

  async function attempt(lane: Lane<Item>, task: Item): Promise<Result | undefined> {
    try {
      return await source.attempt(task, aborting.signal)
    } catch (error) {
      const facts = { error: describeError(error), source: source.name, lane: lane.key }
      log.error(facts, 'a request could not be made; it is tried again')
      setDue(lane, now() + RETRY_MS)
      return undefined
    }
  }

  function record(): void {
    recording ??= recordAll().finally(() => {
      recording = undefined
      if (unrecorded.length > 0) record()
    })
  }

  async function recordAll(): Promise<void> {
    // The results of a batch that failed are recorded one by one: a result that cannot be holds up no other.
    let single = 0
    while (unrecorded.length > 0) {
      if (single === 0 && unrecorded.length < MAX_BATCH && !isStopping) await wait(LINGER_MS)
      const batch = unrecorded.slice(0, single > 0 ? 1 : MAX_BATCH)
      try {
        await source.record(batch)
      } catch (error) {
        const facts = { error: describeError(error), source: source.name, results: batch.length }
        log.error(facts, 'results of requests could not be recorded; this is tried again')
        if (isStopping) return void unrecorded.splice(0)
        unrecorded.push(...unrecorded.splice(0, single > 0 ? 1 : 0))
        single = single > 0 ? single - 1 : batch.length
        await wait(RETRY_MS)
        continue
      }
      single = Math.max(0, single - 1)
      unrecorded.splice(0, batch.length)
      for (const { lane: key, result } of batch) release(key, result)
      pump()
    }
  }

  function release(key: LaneKey, { number, dueAt }: Result): void {
    const lane = lanes.open(key)
    lane.held.delete(number)
    if (dueAt !== null) setDue(lane, dueAt)
    consider(lane)
  }

  function setDue(lane: Lane<Item>, dueAt: number): void {
    lane.dueAt = Math.min(lane.dueAt ?? Number.POSITIVE_INFINITY, dueAt)
    consider(lane)
  }

  /** Queues the lane for reading, or sets the timer for it. */
  function consider(lane: Lane<Item>): void {
    if (lane.dueAt === null) lanes.tidy(lane)
    else if (lane.dueAt > now()) wakeAt(lane.dueAt)
    else if (!lane.isLoading && lane.ready.length === 0) {
      toLoad.add(lane)
      pump()
    }
  }

  function startLoads(): void {
    for (const lane of toLoad) {
      if (loads >= MAX_LOADS || !lanes.hasRoom()) return
      const limit = lanes.roomToRead(lane)
      // The end of a request of the lane considers it again, or that of any request.
      if (limit === 0) continue
      toLoad.delete(lane)
      load(lane, limit)
    }
  }

  async function load(lane: Lane<Item>, limit: number): Promise<void> {
    loads += 1
    lane.isLoading = true
    lane.dueAt = null
    const held = new Set(lane.held)
    try {
      const { tasks, nextDueAt } = await source.take(lane, { held, limit, now: now() })
      if (lane.isStale) lane.dueAt = 0
      else lanes.addReady(lane, tasks)
      if (nextDueAt !== null) lane.dueAt = Math.min(lane.dueAt ?? nextDueAt, nextDueAt)
    } catch (error) {
      const facts = { error: describeError(error), source: source.name, lane: lane.key }
      log.error(facts, 'tasks could not be read; this is tried again')
      lane.dueAt = now() + RETRY_MS
    }
    loads -= 1
    lane.isLoading = false
    lane.isStale = false
    consider(lane)
    pump()
  }

  function wakeAt(at: number): void {
    loop.wakeWithin(Math.max(MIN_WAIT_MS, at - now()))
  }

  function look(): void {
    const isOld = performance.now() - listedAt >= MAX_WAIT_MS
    if (isOld) reload()
    for (const lane of lanes.all()) consider(lane)
  }

  function reload(): void {
    listedAt = performance.now()
    source.listLanes().then(
      (listed) => {
        for (const { dueAt, ...key } of listed) setDue(lanes.open(key), dueAt)
      },
      (error) => {
        const facts = { error: describeError(error), source: source.name }
        log.error(facts, 'what is due could not be listed; this is tried again')
        listedAt = Number.NEGATIVE_INFINITY
        wakeAt(now() + RETRY_MS)
      },
    )
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    const ended = loop.stop()
    const abort = setTimeout(() => aborting.abort(), Math.min(graceMs / 2, STOP_MS))
    if (lanes.active() > 0) {
      await new Promise<void>((resolve) => {
        idle = resolve
      })
    }
    clearTimeout(abort)
    while (recording !== undefined) await recording
    while (loads > 0) await wait(1)
    await ended
  }

  const loop = startLoop({ run: look, firstWaitMs: MAX_WAIT_MS, maxWaitMs: MAX_WAIT_MS })
  reload()
  return {
    notify: (key, dueAt) => setDue(lanes.open(key), dueAt),
    refresh(key) {
      const lane = lanes.open(key)
      lanes.dropReady(lane, 0)
      lane.isStale = lane.isLoading
      setDue(lane, 0)
    },
    reload,
    stop,
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
