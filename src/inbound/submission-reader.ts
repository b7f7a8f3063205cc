/**
 * Parses submitted messages off the main thread, because parsing a message may take much time or
 * memory. A thread parses one message at a time. If a message takes too long, its thread is ended
 * and the message is refused for good, because a retry would end the same way. Threads start when
 * they are needed, and end after half a minute without messages. Projects take turns, and no project has all threads.
 */
import { isMarkedAsUntransferable, type Worker } from 'node:worker_threads'
import type { Counters } from '../base/counters.ts'
import type { Log } from '../base/log.ts'
import type { SubmissionLimits, SubmittedMessage } from '../formats/submitted/read-submitted.ts'
import { createThreadPool, type PoolThread } from '../threads/pool.ts'
import { startThread } from '../threads/start.ts'
import { startTaskTime } from '../threads/task-time.ts'
import { createTurns } from '../turns/turns.ts'
import { refusal } from './refusal.ts'
import type { FromSubmissionThread, SubmissionThreadResult } from './submission-reader-thread.ts'

export type SubmissionReader = {
  /**
   * `parts`: the message in order. Their memory is transferred to the thread, because copying it would
   * block the event loop. @throws SmtpRefusal; as `Turns.take` (`turns/turns.ts`)
   */
  read(parts: readonly Buffer[]): Promise<SubmittedMessage>
  stop(): Promise<void>
}

export type SubmissionReaderOptions = {
  limits: SubmissionLimits
  log: Log
  counters?: Pick<Counters, 'add'> | undefined
  maxThreads?: number
  /** How many of the threads one project may have at a time. */
  maxThreadsOfProject?: number
  /** The processor time for a small message. */
  timeoutMs?: number
  /** The time on the clock for any message; for tests. */
  maxClockMs?: number
  /** The time for a thread to start. */
  startTimeoutMs?: number
  /** Starts a thread in place of the real one; for tests. */
  start?: (options: { workerData: SubmissionLimits; resourceLimits: object }) => Worker
}

type ReaderResult = SubmissionThreadResult | { lost: string }
type ReadTask = { parts: readonly Buffer[]; sizeBytes: number; settle(result: ReaderResult): void }

/** A thread, which has one task at a time. `timer` ends a thread that takes too long. */
type SubmissionThread = PoolThread<{
  task: ReadTask | undefined
  timer: NodeJS.Timeout | undefined
}>

const TIMEOUT_MS = 5_000
/** Added to the timeout for each MiB. */
const TIMEOUT_MS_PER_MIB = 200
const START_TIMEOUT_MS = 30_000
const LOOK_EVERY_MS = 250
/** Threads that have read large messages hold much memory. */
const REST_MS = 30_000
const MIB = 1024 * 1024
const MAX_THREADS = 3
const MAX_THREADS_OF_PROJECT = 2
/** The most messages that wait. Each waits in a session, and there are at most 500 sessions. */
const MAX_WAITING = 500
const MAX_WAITING_OF_PROJECT = 250
const RETRY_AFTER_SECONDS = 60
/** The limits of a thread's memory: beyond them the thread ends, not the process. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 24 }

const GOING_DOWN = {
  refusal: { code: '451 4.3.2', text: 'This server is going down, try again later' },
}

const NOT_STARTED: ReaderResult = { failure: 'no thread starts' }

export function createSubmissionReader({
  limits,
  log,
  counters,
  maxThreads = MAX_THREADS,
  maxThreadsOfProject = MAX_THREADS_OF_PROJECT,
  timeoutMs = TIMEOUT_MS,
  maxClockMs,
  startTimeoutMs = START_TIMEOUT_MS,
  start = (options) => startThread('submission', options),
}: SubmissionReaderOptions): SubmissionReader {
  const waiting: ReadTask[] = []
  let isStopping = false
  const turns = createTurns({
    atOnce: maxThreads,
    atOncePerProject: maxThreadsOfProject,
    waitingPerProject: MAX_WAITING_OF_PROJECT,
    waiting: MAX_WAITING,
    to: 'to be read',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
  const pool = createThreadPool<SubmissionThread['state'], FromSubmissionThread>({
    maxThreads,
    launch: () => ({
      worker: start({ workerData: limits, resourceLimits: RESOURCE_LIMITS }),
      state: { task: undefined, timer: undefined },
    }),
    received(thread, message) {
      if (message === 'ready') setTimer(thread)
      else finish(thread, message)
    },
    ended(thread, error) {
      if (error !== undefined) {
        counters?.add('pillarbox_threads_lost_total', { kind: 'submission' })
        log.error({ error }, 'a thread that reads mail ended')
      }
      finish(thread, resultOfEndedThread(thread))
    },
  })

  function resultOfEndedThread({ hasStarted }: SubmissionThread): ReaderResult {
    if (isStopping) return GOING_DOWN
    return hasStarted ? { lost: 'The message cannot be read' } : NOT_STARTED
  }

  function finish(thread: SubmissionThread, result: ReaderResult): void {
    clearTimeout(thread.state.timer)
    const { task } = thread.state
    thread.state.task = undefined
    thread.worker.unref()
    task?.settle(result)
    next()
  }

  function next(): void {
    if (waiting.length === 0) {
      if (pool.list().every(({ state }) => state.task === undefined)) pool.rest(REST_MS)
      return
    }
    const thread = pool.list().find(({ state }) => state.task === undefined) ?? pool.start()
    if (thread !== undefined) assign(thread, waiting.shift())
  }

  function assign(thread: SubmissionThread, task: ReadTask | undefined): void {
    if (task === undefined) return
    pool.keep()
    thread.state.task = task
    thread.worker.ref()
    thread.worker.postMessage(task.parts, memoryOf(task.parts))
    setTimer(thread)
  }

  function setTimer(thread: SubmissionThread): void {
    const { state, hasStarted } = thread
    const { task } = state
    clearTimeout(state.timer)
    if (task === undefined) return
    if (!hasStarted) {
      state.timer = setTimeout(() => expire(thread), startTimeoutMs)
      return
    }
    const limitMs = timeoutMs + (TIMEOUT_MS_PER_MIB * task.sizeBytes) / MIB
    const isOver = startTaskTime(thread.worker, { limitMs, maxClockMs })
    const look = async () => {
      if ((await isOver()) && state.task === task) expire(thread)
    }
    state.timer = setInterval(look, LOOK_EVERY_MS)
  }

  function expire(thread: SubmissionThread): void {
    const { hasStarted: isReady } = thread
    log.warn({ isReady }, 'a submitted message took too long to read')
    pool.end(thread)
    finish(thread, isReady ? { lost: 'The message takes too long to read' } : NOT_STARTED)
  }

  async function read(parts: readonly Buffer[]): Promise<SubmittedMessage> {
    const sizeBytes = parts.reduce((sum, { length }) => sum + length, 0)
    const result = await turns.take(
      () =>
        new Promise<ReaderResult>((settle) => {
          waiting.push({ parts, sizeBytes, settle })
          next()
        }),
    )
    if ('submitted' in result) return result.submitted
    if ('refusal' in result) throw refusal(result.refusal.code, result.refusal.text)
    if ('lost' in result) throw refusal('554 5.6.0', result.lost)
    throw new Error(result.failure)
  }

  async function stop(): Promise<void> {
    isStopping = true
    turns.stop(refusal(GOING_DOWN.refusal.code, GOING_DOWN.refusal.text))
    for (const { settle } of waiting.splice(0)) settle(GOING_DOWN)
    await pool.stop()
  }

  return { read, stop }
}

/** Returns the memory of the parts, except memory shared with other buffers. */
function memoryOf(parts: readonly Buffer[]): ArrayBuffer[] {
  const memory = parts.map(({ buffer }) => buffer)
  return memory.filter(
    (each): each is ArrayBuffer => each instanceof ArrayBuffer && !isMarkedAsUntransferable(each),
  )
}
