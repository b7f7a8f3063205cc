/**
 * The reader threads: started by the first message, ended when there has been none for a while,
 * replaced when one crashes or stays at a message for too long. Whoever handed in what was in such
 * a thread's hands learns that it was lost (`ReaderLost`): which of them was the cause is for the
 * caller to find out, by having each read alone.
 *
 * A thread that ends before it could begin is nobody's fault: what was meant for it waits for the
 * next one, which is started a little later each time.
 */
import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { describeError } from '../errors.ts'
import {
  type Reader,
  ReaderLost,
  type Reading,
  type Unread,
} from '../features/receiving/process/parsed-message.ts'
import type { Log } from '../log.ts'
import { startThread } from '../threads/start.ts'
import type { FromReader, ReaderSettings, ToReader } from './reader-thread.ts'

export type ReaderOptions = {
  settings: ReaderSettings
  log: Log
  /** A message that takes longer ends its thread. */
  timeoutMs?: number
  idleMs?: number
  /** For tests. */
  launch?: (settings: ReaderSettings) => Worker
}

export type ReaderPool = Reader & {
  countThreads(): number
  /** What is in hand is lost. */
  stop(): Promise<void>
}

type Task = {
  id: number
  message: Unread
  isAlone: boolean
  /** When a thread got it. */
  startedAt: number
  resolve(reading: Reading): void
  reject(error: Error): void
}

type Thread = { worker: Worker; tasks: Map<number, Task>; isReady: boolean; idleSince: number }

const TIMEOUT_MS = 5_000
const IDLE_MS = 30_000
const START_MS = 30_000
const WATCH_EVERY_MS = 250
const MAX_THREADS = 2
/** In one thread at a time, most of them waiting for the DNS. */
const MAX_TASKS = 16
/** Of messages in one thread, unless a single one is larger: a fraction of the time allowed. */
const MAX_BYTES = 2 * 1024 * 1024
/** Of both for mail, which a DNS may keep waiting: the rest is for reports, which ask for nothing. */
const MAIL_SHARE = 0.75
/** Waiting for the first thread, before there is a second one. */
const BACKLOG = 16
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 30_000
const MAX_OLD_HEAP_MB = 256
const MAX_YOUNG_HEAP_MB = 16

export function startReader(options: ReaderOptions): ReaderPool {
  const { settings, log, timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS } = options
  const launch = options.launch ?? launchThread
  const waiting: Task[] = []
  const threads: Thread[] = []
  let lastId = 0
  let failedStarts = 0
  let pausedUntil = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  function read(message: Unread, { isAlone }: { isAlone: boolean }): Promise<Reading> {
    if (isStopped) return Promise.reject(new ReaderLost('the reader has been stopped'))
    return new Promise((resolve, reject) => {
      waiting.push({ id: ++lastId, message, isAlone, startedAt: 0, resolve, reject })
      timer ??= setInterval(watch, Math.min(WATCH_EVERY_MS, timeoutMs / 2)).unref()
      assign()
    })
  }

  /** In their order; what finds no room is passed over, unless it waits for a thread of its own. */
  function assign(): void {
    let next = 0
    for (let task = waiting[next]; task !== undefined; task = waiting[next]) {
      const thread = findRoom(threads, task) ?? startAnother()
      if (thread !== undefined) {
        waiting.splice(next, 1)
        hand(thread, task)
      } else if (task.isAlone) return
      else next += 1
    }
  }

  function startAnother(): Thread | undefined {
    const limit = waiting.length > BACKLOG || waiting[0]?.isAlone ? MAX_THREADS : 1
    if (threads.length >= Math.min(limit, availableParallelism())) return undefined
    if (isStopped || performance.now() < pausedUntil) return undefined
    const worker = launch(settings)
    const thread: Thread = {
      worker,
      tasks: new Map(),
      isReady: false,
      idleSince: performance.now(),
    }
    let reason: unknown = `a message took more than ${timeoutMs} ms`
    worker.on('message', (message: FromReader) => received(thread, message))
    worker.on('error', (error) => {
      reason = error
    })
    worker.on('exit', () => ended(thread, reason))
    threads.push(thread)
    return thread
  }

  function received(thread: Thread, message: FromReader): void {
    failedStarts = 0
    if (message.type === 'ready') {
      for (const task of thread.tasks.values()) task.startedAt = performance.now()
      thread.isReady = true
      return
    }
    const task = thread.tasks.get(message.id)
    thread.tasks.delete(message.id)
    if (thread.tasks.size === 0) thread.idleSince = performance.now()
    if (message.type === 'read') task?.resolve(message.reading)
    else task?.reject(new Error(message.error))
    assign()
  }

  function ended(thread: Thread, reason: unknown): void {
    threads.splice(threads.indexOf(thread), 1)
    const tasks = [...thread.tasks.values()]
    if (!thread.isReady && !isStopped) {
      failedStarts += 1
      pausedUntil = performance.now() + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failedStarts)
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

  function watch(): void {
    const now = performance.now()
    for (const thread of threads) {
      const { tasks, isReady, idleSince } = thread
      const isHung = [...tasks.values()].some(({ startedAt }) => now - startedAt > timeoutMs)
      const isIdle = tasks.size === 0 && now - idleSince > idleMs
      const isStuck = now - idleSince > START_MS
      if (isReady ? isHung || isIdle : isStuck) void thread.worker.terminate()
    }
    assign()
    if (threads.length > 0 || waiting.length > 0) return
    clearInterval(timer)
    timer = undefined
  }

  async function stop(): Promise<void> {
    isStopped = true
    clearInterval(timer)
    for (const task of waiting.splice(0)) task.reject(new ReaderLost('the reader is being stopped'))
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  return { read, countThreads: () => threads.length, stop }
}

function launchThread(workerData: ReaderSettings): Worker {
  const resourceLimits = {
    maxOldGenerationSizeMb: MAX_OLD_HEAP_MB,
    maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB,
  }
  return startThread('reader', { workerData, resourceLimits })
}

/** The thread with the least to do that may take this, too. */
function findRoom(threads: readonly Thread[], task: Task): Thread | undefined {
  const open = threads.filter(({ tasks }) => mayTake([...tasks.values()], task))
  return open.sort((one, other) => one.tasks.size - other.tasks.size)[0]
}

function mayTake(tasks: readonly Task[], { message, isAlone }: Task): boolean {
  if (tasks.length === 0) return true
  if (isAlone || tasks.some((task) => task.isAlone)) return false
  const share = message.isMail ? MAIL_SHARE : 1
  const bytes = tasks.reduce((sum, task) => sum + task.message.raw.byteLength, 0)
  const isWithin = bytes + message.raw.byteLength <= MAX_BYTES * share
  return isWithin && tasks.length < MAX_TASKS * share
}

function hand(thread: Thread, task: Task): void {
  task.startedAt = performance.now()
  thread.tasks.set(task.id, task)
  thread.worker.postMessage({ id: task.id, message: task.message } satisfies ToReader)
}
