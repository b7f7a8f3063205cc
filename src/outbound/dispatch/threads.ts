/**
 * Threads that make messages, and that deliver them: started one by one as they are needed, watched,
 * replaced when they crash or stay at one message too long. Whoever uses them learns which task was
 * in hand when one ended. Threads that end before they have started are not started again for a
 * minute.
 */

import type { Worker } from 'node:worker_threads'
import { MINUTE_MS } from '../../clock.ts'
import { startThread, type ThreadName } from '../../config/assets.ts'
import { describeError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { FromThread, ThreadSettings, ToThread } from '../protocol.ts'
import { createTaken, readTaken } from '../thread/result-batches.ts'

export type DeliveryThread = {
  readonly number: number
  /** What is in `transfer` is gone here afterwards. */
  post(message: ToThread, transfer?: readonly ArrayBuffer[]): void
}

export type ThreadsOptions = {
  name: Extract<ThreadName, 'delivery' | 'composing'>
  settings: Omit<ThreadSettings, 'slot' | 'taken'>
  maxThreads: number
  /**
   * How much of the processor's time making the message of a task may take; more ends its thread. A
   * machine that is busy elsewhere has time for ten times that.
   */
  hangMs(task: number): number
  log: Log
  received(thread: DeliveryThread, message: FromThread): void
  /** Not called in the course of `stop`. */
  ended(thread: DeliveryThread, last: LastWords): void
}

/**
 * `culprit`: the task that was being made, 0 = none. `taken`: tasks whose messages were delivered;
 * of those that are not over, it had no time to report.
 */
export type LastWords = {
  culprit: number
  taken: ReadonlySet<number>
  /** False: it ended before it could do anything. */
  hasStarted: boolean
  reason: string
}

export type Threads = {
  list(): readonly DeliveryThread[]
  /** Undefined when there are enough, or when threads do not start. */
  start(): DeliveryThread | undefined
  /** Ends them all without a word; for when they are not needed for a while. */
  rest(): void
  /** Resolves when all have reported what they had in hand, and have ended. */
  stop(graceMs: number): Promise<void>
}

type Running = DeliveryThread & {
  worker: Worker
  slot: Int32Array
  taken: SharedArrayBuffer
  seen: Seen
  hasStarted: boolean
  stopped: PromiseWithResolvers<void>
}

/**
 * What the slot held when it was last looked at, and since when; `cpuMs` of the thread, as soon as
 * it was seen twice.
 */
type Seen = { task: number; count: number; since: number; cpuMs: number | null }

const MAX_WATCH_EVERY_MS = 500
/** Of `hangMs`, on the clock. */
const PATIENCE = 10
const MAX_FAILED_STARTS = 3
const BROKEN_FOR_MS = MINUTE_MS
const STOP_MARGIN_MS = 1_000
/** Messages and attachments among it, whose bounds leave room. Beyond it the thread ends, not the process. */
const MAX_OLD_HEAP_MB = 512
const MAX_YOUNG_HEAP_MB = 24

export function createThreads(options: ThreadsOptions): Threads {
  const running: Running[] = []
  const ending = new Set<Promise<unknown>>()
  let lastNumber = 0
  let failedStarts = 0
  let brokenUntil = 0
  let isStopping = false
  let timer: NodeJS.Timeout | undefined

  function start(): DeliveryThread | undefined {
    if (isStopping || running.length >= options.maxThreads || isBroken()) return undefined
    const thread = launch(options, ++lastNumber, { received, ended })
    running.push(thread)
    timer ??= setInterval(watch, Math.min(MAX_WATCH_EVERY_MS, options.hangMs(0) / 2)).unref()
    return thread
  }

  function received(thread: Running, message: FromThread): void {
    thread.hasStarted = true
    failedStarts = 0
    if (message.type === 'warning') options.log.warn({ thread: thread.number }, message.text)
    if (message.type === 'stopped') thread.stopped.resolve()
    else options.received(thread, message)
  }

  function ended(thread: Running, error: unknown): void {
    const at = running.indexOf(thread)
    if (at === -1) return
    running.splice(at, 1)
    thread.stopped.resolve()
    const culprit = Atomics.load(thread.slot, 0)
    const reason = describeError(error)
    if (!isStopping) noteEnd(thread, reason, culprit)
    const { hasStarted } = thread
    options.ended(thread, { culprit, taken: readTaken(thread.taken), hasStarted, reason })
  }

  function noteEnd({ number, hasStarted }: Running, reason: string, task: number): void {
    if (!hasStarted && ++failedStarts >= MAX_FAILED_STARTS) {
      failedStarts = 0
      brokenUntil = performance.now() + BROKEN_FOR_MS
    }
    const fact = { thread: number, reason, task }
    options.log.error(fact, `a ${options.name} thread ended and is replaced`)
  }

  function isBroken(): boolean {
    return performance.now() < brokenUntil
  }

  function watch(): void {
    for (const thread of running) if (isUnchanged(thread)) void endIfHung(thread, options.hangMs)
  }

  function rest(): void {
    for (const { worker } of running.splice(0)) {
      const end = worker.terminate().finally(() => ending.delete(end))
      ending.add(end)
    }
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    clearInterval(timer)
    await Promise.all([...ending, ...running.map((thread) => stopOne(thread, graceMs))])
  }

  return { list: () => running, start, rest, stop }
}

type Listeners = {
  received(thread: Running, message: FromThread): void
  ended(thread: Running, error: unknown): void
}

function launch({ name, settings }: ThreadsOptions, number: number, listeners: Listeners): Running {
  const slot = new SharedArrayBuffer(8)
  const taken = createTaken()
  const workerData: ThreadSettings = { ...settings, slot, taken }
  const resourceLimits = {
    maxOldGenerationSizeMb: MAX_OLD_HEAP_MB,
    maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB,
  }
  const worker = startThread(name, { workerData, resourceLimits })
  const thread: Running = {
    number,
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    worker,
    slot: new Int32Array(slot),
    taken,
    seen: { task: 0, count: 0, since: 0, cpuMs: null },
    hasStarted: false,
    stopped: Promise.withResolvers(),
  }
  let reason: unknown = 'it took too long'
  worker.on('message', (message: FromThread) => listeners.received(thread, message))
  worker.on('error', (error) => {
    reason = error
  })
  worker.on('exit', () => listeners.ended(thread, reason))
  return thread
}

/** It is at the same message as when it was last looked at. */
function isUnchanged(thread: Running): boolean {
  const [task, count] = [Atomics.load(thread.slot, 0), Atomics.load(thread.slot, 1)]
  const { seen } = thread
  if (task !== 0 && task === seen.task && count === seen.count) return true
  thread.seen = { task, count, since: performance.now(), cpuMs: null }
  return false
}

async function endIfHung(thread: Running, hangMs: ThreadsOptions['hangMs']): Promise<void> {
  const { worker, seen } = thread
  const limitMs = hangMs(seen.task)
  const usedMs = await cpuMsOf(worker)
  if (usedMs === null || thread.seen !== seen) return
  seen.cpuMs ??= usedMs
  const isHung = usedMs - seen.cpuMs > limitMs
  if (isHung || performance.now() - seen.since > limitMs * PATIENCE) await worker.terminate()
}

/** Null when it has ended. */
async function cpuMsOf(worker: Worker): Promise<number | null> {
  try {
    const { user, system } = await worker.cpuUsage()
    return (user + system) / 1_000
  } catch {
    return null
  }
}

async function stopOne(thread: Running, graceMs: number): Promise<void> {
  thread.post({ type: 'stop', graceMs })
  const timer = setTimeout(thread.stopped.resolve, graceMs + STOP_MARGIN_MS)
  await thread.stopped.promise
  clearTimeout(timer)
  await thread.worker.terminate()
}
