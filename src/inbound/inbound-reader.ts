/**
 * The pool of reader threads: started by the first message, ended when there has been none for a
 * while, replaced when one crashes or takes too much time for a message. All messages in such a thread are
 * rejected with `ReaderLost`; to find the cause, the caller has each of them read alone.
 *
 * If a thread ends before it has started, its messages wait for the next one, which starts a little
 * later each time.
 */
import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import type { Counters } from '../base/counters.ts'
import { describeError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import {
  type MessageReader,
  type ParsedMessage,
  ReaderLost,
  type UnparsedMessage,
} from '../features/incoming/receiving/process/parsed-message.ts'
import { createThreadPool, type PoolThread } from '../threads/pool.ts'
import { startThread } from '../threads/start.ts'
import { startTaskTime } from '../threads/task-time.ts'
import type { FromInboundReader, ToInboundReader } from './inbound-reader-thread.ts'
import type { InboundReaderSettings } from './read-received.ts'

export type InboundReaderOptions = {
  settings: InboundReaderSettings
  log: Log
  counters?: Pick<Counters, 'add'> | undefined
  /** A message that takes more processor time ends its thread. */
  timeoutMs?: number
  /** The most time on the clock that a message may take. */
  maxClockMs?: number
  idleMs?: number
  /** Starts a thread in place of the real one; for tests. */
  launch?: (settings: InboundReaderSettings) => Worker
}

type InboundReader = MessageReader & {
  countThreads(): number
  /** Rejects all messages that are waiting or being read. */
  stop(): Promise<void>
}

type Task = {
  id: number
  message: UnparsedMessage
  isAlone: boolean
  resolve(reading: ParsedMessage): void
  reject(error: Error): void
}

type ReaderState = {
  tasks: Map<number, Task>
  /** Tasks that go to the thread when the running turn ends. */
  unsent: Task[]
  /** The oldest task at the last check of the thread; its time began at that check. */
  oldest: { id: number; isOver(): Promise<boolean> } | undefined
  idleSince: number
}
type ReaderThread = PoolThread<ReaderState>

const TIMEOUT_MS = 5_000
const IDLE_MS = 30_000
const START_MS = 30_000
const WATCH_EVERY_MS = 250
const MAX_THREADS = 2
/** The most messages in one thread at a time; most of them wait for DNS. */
const MAX_TASKS = 16
/** The most bytes of the messages in one thread; a larger message has a thread to itself. */
const MAX_BYTES = 2 * 1024 * 1024
/**
 * The share of `MAX_TASKS` and `MAX_BYTES` for mail, which may wait for DNS. The rest is for reports, which
 * need no DNS.
 */
const MAIL_SHARE = 0.75
/** A second thread starts when more messages than this wait. */
const BACKLOG = 16
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 30_000
const MAX_OLD_HEAP_MB = 256
const MAX_YOUNG_HEAP_MB = 16

export function startInboundReader(options: InboundReaderOptions): InboundReader {
  const { settings, log, counters, timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS } = options
  const taskTime = { limitMs: timeoutMs, maxClockMs: options.maxClockMs }
  const launch = options.launch ?? launchThread
  const waiting: Task[] = []
  let lastId = 0
  let isStopped = false
  const pool = createThreadPool<ReaderState, FromInboundReader>({
    maxThreads: Math.min(MAX_THREADS, availableParallelism()),
    launch: () => ({
      worker: launch(settings),
      state: { tasks: new Map(), unsent: [], oldest: undefined, idleSince: performance.now() },
    }),
    received,
    ended,
    pauseMs: (failedStarts) => Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failedStarts),
    watch: {
      everyMs: () => Math.min(WATCH_EVERY_MS, timeoutMs / 2),
      shouldEnd,
      checked: assign,
    },
  })

  function read(
    message: UnparsedMessage,
    { isAlone }: { isAlone: boolean },
  ): Promise<ParsedMessage> {
    if (isStopped) return Promise.reject(new ReaderLost('the reader has been stopped'))
    return new Promise((resolve, reject) => {
      waiting.push({ id: ++lastId, message, isAlone, resolve, reject })
      assign()
    })
  }

  /**
   * Assigns waiting messages in order. A message that fits no thread is passed over, unless it must be read
   * alone.
   */
  function assign(): void {
    let next = 0
    for (let task = waiting[next]; task !== undefined; task = waiting[next]) {
      const thread = findFreeThread(pool.list(), task) ?? startAnother()
      if (thread !== undefined) {
        waiting.splice(next, 1)
        send(thread, task)
      } else if (task.isAlone) return
      else next += 1
    }
  }

  function startAnother(): ReaderThread | undefined {
    const limit = waiting.length > BACKLOG || waiting[0]?.isAlone ? MAX_THREADS : 1
    return pool.list().length < limit ? pool.start() : undefined
  }

  function received({ state }: ReaderThread, message: FromInboundReader): void {
    if (message.type === 'ready') return
    const { tasks } = state
    for (const result of message.results) {
      const task = tasks.get(result.id)
      tasks.delete(result.id)
      if ('reading' in result) task?.resolve(result.reading)
      else task?.reject(new Error(result.error))
    }
    if (tasks.size === 0) state.idleSince = performance.now()
    assign()
  }

  function send(thread: ReaderThread, task: Task): void {
    const { tasks, unsent } = thread.state
    tasks.set(task.id, task)
    if (unsent.push(task) === 1) queueMicrotask(() => sendAll(thread))
  }

  function sendAll({ state, worker }: ReaderThread): void {
    const tasks = state.unsent.splice(0)
    worker.postMessage(tasks.map(({ id, message }) => ({ id, message })) satisfies ToInboundReader)
  }

  function ended({ state, hasStarted }: ReaderThread, error: unknown): void {
    const reason =
      error ?? `a message took more than ${timeoutMs} ms of processor time, or did not end`
    const tasks = [...state.tasks.values()]
    if (!isStopped && (!hasStarted || tasks.length > 0)) {
      counters?.add('pillarbox_threads_lost_total', { kind: 'reader' })
    }
    if (!hasStarted && !isStopped) {
      waiting.unshift(...tasks)
      log.error({ error: describeError(reason) }, 'a reader thread does not start')
      return
    }
    const lost = new ReaderLost(describeError(reason), { cause: reason })
    for (const task of tasks) task.reject(lost)
    if (tasks.length > 0 && !isStopped) {
      log.error({ error: lost.message, messages: tasks.length }, 'a reader thread ended')
    }
    assign()
  }

  /**
   * Whether the thread hangs over a message, has been idle for long, or does not start. A message's time does not
   * begin before those ahead of it are done.
   */
  function shouldEnd({ state, worker, hasStarted }: ReaderThread): boolean | Promise<boolean> {
    const { tasks, idleSince } = state
    const idleForMs = performance.now() - idleSince
    if (!hasStarted) return idleForMs > START_MS
    const [oldest] = tasks.values()
    if (oldest === undefined) return idleForMs > idleMs
    if (state.oldest?.id !== oldest.id) {
      // Asking a thread for its time interrupts it.
      state.oldest = { id: oldest.id, isOver: startTaskTime(worker, taskTime) }
      return false
    }
    return state.oldest.isOver().then((isOver) => isOver && tasks.has(oldest.id))
  }

  async function stop(): Promise<void> {
    isStopped = true
    for (const task of waiting.splice(0)) task.reject(new ReaderLost('the reader is being stopped'))
    await pool.stop()
  }

  return { read, countThreads: () => pool.list().length, stop }
}

function launchThread(workerData: InboundReaderSettings): Worker {
  const resourceLimits = {
    maxOldGenerationSizeMb: MAX_OLD_HEAP_MB,
    maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB,
  }
  return startThread('reader', { workerData, resourceLimits })
}

/** Returns the thread with the fewest messages that may take one more. */
function findFreeThread(threads: readonly ReaderThread[], task: Task): ReaderThread | undefined {
  const open = threads.filter(({ state }) => mayTake([...state.tasks.values()], task))
  return open.sort((one, other) => one.state.tasks.size - other.state.tasks.size)[0]
}

function mayTake(tasks: readonly Task[], { message, isAlone }: Task): boolean {
  if (tasks.length === 0) return true
  if (isAlone || tasks.some((task) => task.isAlone)) return false
  const share = message.isMail ? MAIL_SHARE : 1
  const bytes = tasks.reduce((sum, task) => sum + task.message.raw.byteLength, 0)
  const isWithin = bytes + message.raw.byteLength <= MAX_BYTES * share
  return isWithin && tasks.length < MAX_TASKS * share
}
