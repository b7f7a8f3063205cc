/**
 * The main thread's side of one of the store's threads: a pool of one. The thread starts with its
 * first request, and ends after 15 s without any: its heap and its connection take 10 MB. If the thread
 * ends by itself, its pending requests fail. The next request starts another thread.
 */

import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { SECOND_MS } from '../../base/clock.ts'
import type { Counters } from '../../base/counters.ts'
import { createThreadPool } from '../../threads/pool.ts'
import { startThread } from '../../threads/start.ts'
import { type Connection, openConnection, type ResultShape } from '../connection.ts'
import { databaseError } from '../database-error.ts'
import {
  type Checkpoint,
  type ScanQuery,
  type StoreThreadSettings,
  type ThreadResult,
  toError,
} from './thread-messages.ts'

export type StoreThread = {
  /** @throws AppError DATABASE_ERROR, also when the thread crashes; or SQLite's error. */
  ask(request: ScanQuery | Checkpoint): Promise<unknown>
  /** The number of requests without a result so far. */
  pending(): number
  /** Whether the thread runs. */
  isStarted(): boolean
  /** Ends the thread once all earlier requests have their results. */
  stop(): Promise<void>
}

type PendingResult = { resolve(result: unknown): void; reject(error: unknown): void }

/** The results of a scan are short-lived: a small nursery costs no time. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 6 }
/** A thread that starts takes 40 ms of processor time. */
const REST_MS = 15 * SECOND_MS
const BUSY_TIMEOUT_MS = 1000

/** `start` is for tests. */
export function createThread(
  settings: StoreThreadSettings,
  start: () => Worker = () =>
    startThread('scan', { workerData: settings, resourceLimits: RESOURCE_LIMITS }),
  counters?: Pick<Counters, 'add'>,
): StoreThread {
  const waiting = new Map<number, PendingResult>()
  const pool = createThreadPool<null, ThreadResult>({
    maxThreads: 1,
    launch: () => ({ worker: start(), state: null }),
    received({ worker }, result) {
      const query = waiting.get(result.id)
      waiting.delete(result.id)
      if (waiting.size === 0) worker.unref()
      rest()
      if ('failure' in result) query?.reject(toError(result.failure, settings.path))
      else query?.resolve(result.result)
    },
    ended(_, error) {
      if (error !== undefined) counters?.add('pillarbox_threads_lost_total', { kind: 'scan' })
      const pending = [...waiting.values()]
      waiting.clear()
      const cause = error ?? new Error('the thread has ended')
      for (const query of pending) query.reject(databaseError(cause, settings.path))
    },
  })
  let lastId = 0

  function rest(): void {
    if (waiting.size === 0) pool.rest(REST_MS)
  }

  return {
    async ask(request) {
      const thread = pool.list()[0] ?? pool.start()
      if (thread === undefined)
        throw databaseError(new Error('The store is closed.'), settings.path)
      lastId += 1
      const id = lastId
      rest()
      thread.worker.postMessage({ id, ...request })
      pool.keep()
      thread.worker.ref()
      return new Promise<unknown>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
      })
    },
    pending: () => waiting.size,
    isStarted: () => pool.list().length > 0,
    stop: () => pool.stop(({ worker }) => askToEnd(worker)),
  }
}

/** Resolves when the thread has finished all requests and ended. */
function askToEnd(worker: Worker): Promise<void> {
  worker.ref()
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
    worker.postMessage(null)
  })
}

/**
 * Makes the store's threads for a command, which serves no requests: scans run in the calling thread, on a
 * connection that all of them share, because starting a worker takes 45 ms of processor time. The last thread
 * that stops closes the connection. `connect` is for tests.
 */
export function createInlineThreads(connect = openConnection): typeof createThread {
  let connection: Connection | undefined
  let users = 0

  return (settings, start, counters) => {
    const checkpoints = createThread(settings, start, counters)
    const running = new Set<Promise<unknown>>()
    let isStarted = false
    users += 1

    /** Parameters and results are copied, as they are between threads. */
    async function scan(text: string, params: unknown[], shape: ResultShape): Promise<unknown> {
      const copies = structuredClone(params)
      await setImmediate()
      isStarted = true
      const options = { ...settings, isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS }
      connection ??= connect(options)
      return structuredClone(connection.run(text, copies, shape))
    }

    return {
      ask(request) {
        if (request.kind === 'checkpoint') return checkpoints.ask(request)
        const result = scan(request.text, request.params, request.shape)
        running.add(result)
        const ended = () => void running.delete(result)
        result.then(ended, ended)
        return result
      },
      pending: () => running.size + checkpoints.pending(),
      isStarted: () => isStarted || checkpoints.isStarted(),
      async stop() {
        await Promise.allSettled([...running, checkpoints.stop()])
        users -= 1
        if (users === 0) connection?.close()
      },
    }
  }
}
