/**
 * The delivery threads: started one by one as they are needed, watched, replaced when they crash
 * or stay at one message too long (a template that takes for ever). Whoever uses them learns which
 * task was in hand when one ended. Threads that end as soon as they start are not started again
 * for a minute.
 */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../config/assets.ts'
import { describeError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { FromThread, ThreadSettings, ToThread } from './protocol.ts'
import { createTaken, readTaken } from './reporter.ts'

export type DeliveryThread = { readonly number: number; post(message: ToThread): void }

export type ThreadsOptions = {
  settings: Omit<ThreadSettings, 'slot' | 'taken'>
  maxThreads: number
  /** A message that takes longer to make ends its thread. */
  hangMs: number
  log: Log
  received(thread: DeliveryThread, message: FromThread): void
  /** Not called in the course of `stop`. */
  ended(thread: DeliveryThread, last: LastWords): void
}

/**
 * `culprit`: the task that was being made, 0 = none. `taken`: tasks whose messages were delivered;
 * of those that are not over, it had no time to report.
 */
export type LastWords = { culprit: number; taken: ReadonlySet<number> }

export type Threads = {
  list(): readonly DeliveryThread[]
  /** Undefined when there are enough, or when threads do not start. */
  start(): DeliveryThread | undefined
  isBroken(): boolean
  /** Resolves when all have reported what they had in hand, and have ended. */
  stop(graceMs: number): Promise<void>
}

type Running = DeliveryThread & {
  worker: Worker
  slot: Int32Array
  taken: SharedArrayBuffer
  /** What the slot held when it was last looked at, and since when. */
  seen: { task: number; count: number; since: number }
  hasWorked: boolean
  stopped: PromiseWithResolvers<void>
}

const MAX_WATCH_EVERY_MS = 500
const MAX_FAILED_STARTS = 3
const BROKEN_FOR_MS = 60_000
const STOP_MARGIN_MS = 1_000
/** Messages and attachments among it, whose bounds leave room. Beyond it the thread ends, not the process. */
const MAX_OLD_HEAP_MB = 512
const MAX_YOUNG_HEAP_MB = 24

export function createThreads(options: ThreadsOptions): Threads {
  const running: Running[] = []
  let lastNumber = 0
  let failedStarts = 0
  let brokenUntil = 0
  let isStopping = false
  let timer: NodeJS.Timeout | undefined

  function start(): DeliveryThread | undefined {
    if (isStopping || running.length >= options.maxThreads || isBroken()) return undefined
    const thread = launch(options, ++lastNumber, { received, ended })
    running.push(thread)
    timer ??= setInterval(watch, Math.min(MAX_WATCH_EVERY_MS, options.hangMs / 2)).unref()
    return thread
  }

  function received(thread: Running, message: FromThread): void {
    thread.hasWorked = true
    failedStarts = 0
    if (message.type === 'warning') options.log.warn({ thread: thread.number }, message.text)
    if (message.type === 'stopped') thread.stopped.resolve()
    else options.received(thread, message)
  }

  function ended(thread: Running, error: unknown): void {
    running.splice(running.indexOf(thread), 1)
    thread.stopped.resolve()
    const culprit = Atomics.load(thread.slot, 0)
    if (!isStopping) noteEnd(thread, error, culprit)
    options.ended(thread, { culprit, taken: readTaken(thread.taken) })
  }

  function noteEnd({ number, hasWorked }: Running, error: unknown, task: number): void {
    if (!hasWorked && ++failedStarts >= MAX_FAILED_STARTS) {
      failedStarts = 0
      brokenUntil = performance.now() + BROKEN_FOR_MS
    }
    const fact = { thread: number, reason: describeError(error), task }
    options.log.error(fact, 'a delivery thread ended and is replaced')
  }

  function isBroken(): boolean {
    return performance.now() < brokenUntil
  }

  function watch(): void {
    for (const thread of running) if (isHung(thread, options.hangMs)) void thread.worker.terminate()
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    clearInterval(timer)
    await Promise.all(running.map((thread) => stopOne(thread, graceMs)))
  }

  return { list: () => running, start, isBroken, stop }
}

type Listeners = {
  received(thread: Running, message: FromThread): void
  ended(thread: Running, error: unknown): void
}

function launch({ settings }: ThreadsOptions, number: number, listeners: Listeners): Running {
  const slot = new SharedArrayBuffer(8)
  const taken = createTaken()
  const workerData: ThreadSettings = { ...settings, slot, taken }
  const resourceLimits = {
    maxOldGenerationSizeMb: MAX_OLD_HEAP_MB,
    maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB,
  }
  const worker = startThread('delivery', { workerData, resourceLimits })
  const thread: Running = {
    number,
    post: (message) => worker.postMessage(message),
    worker,
    slot: new Int32Array(slot),
    taken,
    seen: { task: 0, count: 0, since: 0 },
    hasWorked: false,
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

function isHung(thread: Running, hangMs: number): boolean {
  const [task, count] = [Atomics.load(thread.slot, 0), Atomics.load(thread.slot, 1)]
  const { seen } = thread
  if (task === 0 || task !== seen.task || count !== seen.count) {
    thread.seen = { task, count, since: performance.now() }
    return false
  }
  return performance.now() - seen.since > hangMs
}

async function stopOne(thread: Running, graceMs: number): Promise<void> {
  thread.post({ type: 'stop', graceMs })
  const timer = setTimeout(thread.stopped.resolve, graceMs + STOP_MARGIN_MS)
  await thread.stopped.promise
  clearTimeout(timer)
  await thread.worker.terminate()
}
