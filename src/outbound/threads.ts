/**
 * Delivery and composing threads as the main thread sees them: started one by one as they are
 * needed, watched, and replaced when they crash or take too long over one message. When a thread
 * ends, their owner is notified of the task that the thread was composing. After three threads in a
 * row that end before they have started, none is started for a minute.
 */
import type { Worker } from 'node:worker_threads'
import type { Counters } from '../base/counters.ts'
import { describeError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { createThreadPool, type PoolThread } from '../threads/pool.ts'
import { startThread, type ThreadName } from '../threads/start.ts'
import type { Delivery } from './delivery.ts'
import { outcomeOfLostThread } from './outcomes.ts'
import {
  type DeliveryThread,
  type FromThread,
  MAX_BATCHED_RESULTS,
  type PackedMessage,
  type TaskResult,
  type ThreadSettings,
} from './protocol.ts'
import { unpackResults } from './thread-messages.ts'

export type ThreadsOptions = {
  name: Extract<ThreadName, 'delivery' | 'composing'>
  settings: Omit<ThreadSettings, 'slot' | 'accepted'>
  maxThreads: number
  /**
   * How much CPU time the thread may spend on composing the message of a task. A thread that
   * exceeds it is ended. On the clock it may take ten times as long, since the machine may be busy.
   */
  hangMs(task: number): number
  log: Log
  counters?: Pick<Counters, 'add'> | undefined
  received(thread: DeliveryThread, message: FromThread): void
  ended(thread: DeliveryThread, end: ThreadEnd): void
}

/**
 * `composing`: the task that was being composed, 0 = none. `accepted`: tasks whose messages a
 * server accepted; the results of the latest may not have been sent.
 */
export type ThreadEnd = {
  composing: number
  accepted: ReadonlySet<number>
  /** Whether the thread could do anything before it ended. */
  hasStarted: boolean
  reason: string
}

export type Threads = {
  list(): readonly DeliveryThread[]
  /** Returns undefined if there are enough threads, or after failed starts. */
  start(): DeliveryThread | undefined
  /** Ends all threads without calling `ended`; call it when they have no tasks. */
  endAll(): void
  /** Resolves when all threads have sent the results of their tasks and have ended. */
  stop(graceMs: number): Promise<void>
}

type LostDeliveries = {
  accepted: Delivery[]
  /** Deliveries whose composed messages are lost with the thread and must be composed again. */
  composed: Delivery[]
  /** Deliveries that have lost their thread too often. */
  excluded: Delivery[]
  /** Deliveries that another thread may take. */
  waiting: Delivery[]
}

type ThreadState = {
  thread: DeliveryThread
  slot: Int32Array
  accepted: SharedArrayBuffer
  seen: TaskObservation
  stopped: PromiseWithResolvers<void>
}

/**
 * The slot of a thread at the last check. `since`: when the slot got this value; `cpuMs`: the thread's CPU
 * time then.
 */
type TaskObservation = { task: number; count: number; since: number; cpuMs: number | null }
type RunningThread = PoolThread<ThreadState>

const MAX_WATCH_EVERY_MS = 500
/** Multiplies `hangMs` for the limit on the clock. */
const CLOCK_FACTOR = 10
const MAX_FAILED_STARTS = 3
const FAILED_STARTS_PAUSE_MS = 60_000
const STOP_MARGIN_MS = 1_000
const MAX_LOST_THREADS = 3
/**
 * The limit of a thread's heap, with messages and attachments. Beyond it the thread ends, not the process.
 */
const MAX_OLD_HEAP_MB = 512
const MAX_YOUNG_HEAP_MB = 12

/** The error of a request that a stop leaves undone. */
export function shutdownError(): Error {
  return new Error('the server is shutting down')
}

export function createThreads(options: ThreadsOptions): Threads {
  const { name, log, counters, hangMs } = options
  const threads: DeliveryThread[] = []
  let isStopping = false
  const pool = createThreadPool<ThreadState, PackedMessage>({
    maxThreads: options.maxThreads,
    launch: () => launch(options),
    received({ number, state: { thread, stopped } }, message) {
      if (message.type === 'warning') log.warn({ thread: number }, message.text)
      if (message.type === 'stopped') stopped.resolve()
      else options.received(thread, unpack(message))
    },
    ended({ number, hasStarted, state }, error) {
      const { thread, slot, stopped } = state
      remove(thread)
      stopped.resolve()
      const composing = Atomics.load(slot, 0)
      const reason = error === undefined ? 'it took too long' : describeError(error)
      if (!isStopping) {
        const facts = { thread: number, reason, task: composing }
        counters?.add('pillarbox_threads_lost_total', { kind: name })
        log.error(facts, `a ${name} thread ended and is replaced`)
      }
      const accepted = new Set(new Int32Array(state.accepted))
      options.ended(thread, { composing, accepted, hasStarted, reason })
    },
    pauseMs: (failed) => (failed % MAX_FAILED_STARTS === 0 ? FAILED_STARTS_PAUSE_MS : 0),
    watch: {
      everyMs: () => Math.min(MAX_WATCH_EVERY_MS, hangMs(0) / 2),
      shouldEnd: (running) => isUnchanged(running) && isHung(running, hangMs),
    },
  })

  function remove(thread: DeliveryThread): void {
    const at = threads.indexOf(thread)
    if (at !== -1) threads.splice(at, 1)
  }

  return {
    list: () => threads,
    start() {
      const thread = pool.start()?.state.thread
      if (thread !== undefined) threads.push(thread)
      return thread
    },
    endAll() {
      threads.splice(0)
      pool.endAll()
    },
    stop(graceMs) {
      isStopping = true
      return pool.stop((running) => stopOne(running, graceMs))
    },
  }
}

/**
 * Decides what happens to the deliveries of a delivery thread that ended. Messages that a server accepted are
 * delivered: the thread ended before it could send their results. Counts the lost thread for each delivery.
 */
export function sortLost(
  deliveries: readonly Delivery[],
  { composing, accepted }: Pick<ThreadEnd, 'composing' | 'accepted'>,
): LostDeliveries {
  const lost: LostDeliveries = { accepted: [], composed: [], excluded: [], waiting: [] }
  for (const delivery of deliveries) {
    delivery.lostThreads++
    const isExcluded = delivery.lostThreads >= MAX_LOST_THREADS && delivery.task !== composing
    if (accepted.has(delivery.task)) lost.accepted.push(delivery)
    else if (delivery.composed !== undefined) lost.composed.push(delivery)
    else if (isExcluded) lost.excluded.push(delivery)
    else lost.waiting.push(delivery)
  }
  return lost
}

export function resultOfAccepted({ task, pool }: Delivery, startedAt: number): TaskResult {
  const outcome = outcomeOfLostThread(pool.mode)
  const unknown = { subject: null, faults: [], brokenTls: null }
  return { task, kind: 'attempted', outcome, startedAt, ...unknown }
}

function launch({ name, settings }: ThreadsOptions): { worker: Worker; state: ThreadState } {
  const slot = new SharedArrayBuffer(8)
  const accepted = new SharedArrayBuffer(MAX_BATCHED_RESULTS * Int32Array.BYTES_PER_ELEMENT)
  const workerData: ThreadSettings = { ...settings, slot, accepted }
  const resourceLimits = {
    maxOldGenerationSizeMb: MAX_OLD_HEAP_MB,
    maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB,
  }
  const worker = startThread(name, { workerData, resourceLimits })
  const state = {
    thread: worker as DeliveryThread,
    slot: new Int32Array(slot),
    accepted,
    seen: { task: 0, count: 0, since: 0, cpuMs: null },
    stopped: Promise.withResolvers<void>(),
  }
  return { worker, state }
}

function unpack(message: PackedMessage): FromThread {
  if (message.type !== 'results') return message
  return { type: 'results', results: unpackResults(message.packed) }
}

/** Whether the thread is composing the same message as at the last check. */
function isUnchanged({ state }: RunningThread): boolean {
  const [task, count] = [Atomics.load(state.slot, 0), Atomics.load(state.slot, 1)]
  const { seen } = state
  if (task !== 0 && task === seen.task && count === seen.count) return true
  state.seen = { task, count, since: performance.now(), cpuMs: null }
  return false
}

async function isHung(
  { worker, state }: RunningThread,
  hangMs: ThreadsOptions['hangMs'],
): Promise<boolean> {
  const { seen } = state
  const limitMs = hangMs(seen.task)
  const usedMs = await cpuMsOf(worker)
  if (usedMs === null || state.seen !== seen) return false
  seen.cpuMs ??= usedMs
  const isOverCpu = usedMs - seen.cpuMs > limitMs
  return isOverCpu || performance.now() - seen.since > limitMs * CLOCK_FACTOR
}

/** Returns null if the thread has ended. */
async function cpuMsOf(worker: Worker): Promise<number | null> {
  try {
    const { user, system } = await worker.cpuUsage()
    return (user + system) / 1_000
  } catch {
    return null
  }
}

async function stopOne({ state }: RunningThread, graceMs: number): Promise<void> {
  const { thread, stopped } = state
  thread.postMessage({ type: 'stop', graceMs })
  const timer = setTimeout(stopped.resolve, graceMs + STOP_MARGIN_MS)
  await stopped.promise
  clearTimeout(timer)
}
