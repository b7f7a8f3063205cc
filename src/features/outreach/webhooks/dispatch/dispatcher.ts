/**
 * Sends the tasks of a source, many at a time, each line by itself (`tasks.ts`). The
 * tasks of a line start in order, and one that fails holds back no other.
 *
 * Memory is bounded however many tasks wait: a line reads a small page of them when it may start
 * some, and the numbers of those in flight are kept until their results are recorded. Results are recorded
 * in batches. Nothing is written before a request, so a crash repeats the requests in flight, under
 * the same ids.
 *
 * A line is read when a notice says that tasks are due, and when the earliest due time has come. All
 * keys are listed at the start, after a change by another process, and each minute, so that a
 * clock that jumps delays nothing by more than that.
 */
import { setMaxListeners } from 'node:events'
import { MINUTE_MS, type Now, SECOND_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { Log } from '../../../../base/log.ts'
import { startLoop } from '../../../../work/loop.ts'
import {
  createTaskLines,
  type DispatchResult,
  nextWidth,
  type RequestTask,
  type StartedTask,
  type TaskKey,
  type TaskLine,
  type TaskSource,
} from './tasks.ts'

export type Dispatcher = {
  /** Says that tasks of the key are due at `dueAt`. */
  notify(key: TaskKey, dueAt: number): void
  /** Drops the tasks of the key that were read and not started, and reads the key again. */
  refresh(key: TaskKey): void
  /** Lists all keys again. */
  reload(): void
  /** Starts no further requests, aborts those that do not end soon, and records all results. */
  stop(graceMs: number): Promise<void>
}

type Deps = { log: Log; now: Now }
type WaitingResult<Result> = { key: TaskKey; result: Result }

const STALL_MS = 2 * SECOND_MS
/** How long the dispatcher waits after a failure of the database. */
const RETRY_MS = SECOND_MS
const MAX_WAIT_MS = MINUTE_MS
const MIN_WAIT_MS = 5
/** Lines that are read at the same time. */
const MAX_LOADS = 4
const MAX_BATCH = 256
/** Results that arrive within this time are recorded together. */
const LINGER_MS = 10
/** How long requests may still take at a stop. */
const STOP_MS = 3 * SECOND_MS

export function startDispatcher<Item extends RequestTask, Result extends DispatchResult>(
  { log, now }: Deps,
  source: TaskSource<Item, Result>,
): Dispatcher {
  const lines = createTaskLines<Item>()
  const toLoad = new Set<TaskLine<Item>>()
  const aborting = new AbortController()
  setMaxListeners(0, aborting.signal)
  const unrecorded: WaitingResult<Result>[] = []
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
      const started = lines.startNext()
      if (started === undefined) return
      run(started)
      consider(started.line)
    }
  }

  async function run(started: StartedTask<Item>): Promise<void> {
    const { line, task } = started
    const stalls = setTimeout(lines.stall, STALL_MS, started)
    const result = await attempt(line, task)
    clearTimeout(stalls)
    lines.end(started)
    if (result === undefined) line.taken.delete(task.number)
    else {
      setWidth(line, nextWidth(line.width, result.hasAnswered))
      unrecorded.push({ key: line, result })
      record()
    }
    consider(line)
    pump()
    if (lines.active() === 0) idle?.()
  }

  /**
   * Sets the width of a line. A line that gets slower keeps fewer tasks in memory; the dropped
   * tasks are read again later.
   */
  function setWidth(line: TaskLine<Item>, width: number): void {
    const isSlower = width < line.width
    line.width = width
    if (isSlower && lines.dropReady(line, 2 * width) > 0) line.dueAt = 0
  }

  async function attempt(line: TaskLine<Item>, task: Item): Promise<Result | undefined> {
    try {
      return await source.attempt(task, aborting.signal)
    } catch (error) {
      const facts = { error: describeError(error), source: source.name, key: line.id }
      log.error(facts, 'a request could not be made; it is tried again')
      setDue(line, now() + RETRY_MS)
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
    // How many results are recorded one by one: those of a batch that failed, so that a result
    // which cannot be recorded holds up no other result.
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
      for (const { key, result } of batch) release(key, result)
      pump()
    }
  }

  function release(key: TaskKey, { number, dueAt }: Result): void {
    const line = lines.open(key)
    line.taken.delete(number)
    if (dueAt !== null) setDue(line, dueAt)
    consider(line)
  }

  function setDue(line: TaskLine<Item>, dueAt: number): void {
    line.dueAt = Math.min(line.dueAt ?? Number.POSITIVE_INFINITY, dueAt)
    consider(line)
  }

  /** Queues the line for reading if a task is due, or sets the timer to the line's due time. */
  function consider(line: TaskLine<Item>): void {
    if (line.dueAt === null) lines.tidy(line)
    else if (line.dueAt > now()) wakeAt(line.dueAt)
    else if (!line.isLoading && line.ready.length === 0) {
      toLoad.add(line)
      pump()
    }
  }

  function startLoads(): void {
    for (const line of toLoad) {
      if (loads >= MAX_LOADS || !lines.hasRoom()) return
      const limit = lines.roomToRead(line)
      // A line without room is considered again when one of its requests ends, or any other
      // request.
      if (limit === 0) continue
      toLoad.delete(line)
      load(line, limit)
    }
  }

  async function load(line: TaskLine<Item>, limit: number): Promise<void> {
    loads += 1
    line.isLoading = true
    line.dueAt = null
    const taken = new Set(line.taken)
    try {
      const { tasks, nextDueAt } = await source.take(line, { taken, limit, now: now() })
      if (line.isStale) line.dueAt = 0
      else lines.addReady(line, tasks)
      if (nextDueAt !== null) line.dueAt = Math.min(line.dueAt ?? nextDueAt, nextDueAt)
    } catch (error) {
      const facts = { error: describeError(error), source: source.name, key: line.id }
      log.error(facts, 'tasks could not be read; this is tried again')
      line.dueAt = now() + RETRY_MS
    }
    loads -= 1
    line.isLoading = false
    line.isStale = false
    consider(line)
    pump()
  }

  function wakeAt(at: number): void {
    loop.wakeWithin(Math.max(MIN_WAIT_MS, at - now()))
  }

  function look(): void {
    const isOld = performance.now() - listedAt >= MAX_WAIT_MS
    if (isOld) reload()
    for (const line of lines.all()) consider(line)
  }

  function reload(): void {
    listedAt = performance.now()
    source.listKeys().then(
      (listed) => {
        for (const { dueAt, ...key } of listed) setDue(lines.open(key), dueAt)
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
    if (lines.active() > 0) {
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
    notify: (key, dueAt) => setDue(lines.open(key), dueAt),
    refresh(key) {
      const line = lines.open(key)
      lines.dropReady(line, 0)
      line.isStale = line.isLoading
      setDue(line, 0)
    },
    reload,
    stop,
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
