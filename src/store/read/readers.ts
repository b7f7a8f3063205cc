/**
 * Scans: queries whose cost grows with a project, away from the event loop. A few threads at most,
 * each with one scan at a time and started when all others are busy; what they cannot take yet waits
 * for its turn (scan-turns.ts). Every query sees the database as of its own beginning.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../../errors.ts'
import type { Run } from '../database.ts'
import { databaseError } from '../database-error.ts'
import { createScanTurns, type ScanCaller } from './scan-turns.ts'
import type { StoreThread } from './thread.ts'
import type { Query, ThreadSettings } from './thread-messages.ts'

export type Readers = {
  run: Run
  /** As `Store.scanFor` (store.ts). */
  scanFor<T>(caller: ScanCaller, fn: () => T): T
  /** Answers what runs; what waits, or comes later, is DATABASE_ERROR. */
  stop(): Promise<void>
}

type Thread = Pick<StoreThread, 'ask' | 'stop'>
type Scan = {
  query: Query
  isJob: boolean
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** What waits for one project when its next request is refused; a page of a list is two scans. */
export const MAX_WAITING = 200
const RETRY_AFTER_SECONDS = 5
/** Whoever has not said for whom: the server's own work, and commands. */
const SYSTEM: ScanCaller = { key: '', isJob: false }

export function createReaders({ path }: ThreadSettings, threads: readonly Thread[]): Readers {
  const callers = new AsyncLocalStorage<ScanCaller>()
  /** Those whose first scan found room: the others of theirs are not refused half-way. */
  const admitted = new WeakSet([SYSTEM])
  const turns = createScanTurns<Scan>()
  const idle = [...threads]
  /** No scan can be interrupted: a request finds one thread that no job is ever given. */
  const jobThreads = Math.max(1, threads.length - 1)
  let jobsRunning = 0
  let isStopped = false
  const closed = () => databaseError(new Error('The store is closed.'), path)

  function refusal(caller: ScanCaller): AppError | undefined {
    if (isStopped) return closed()
    const hasRoom = caller.isJob || turns.countWaiting(caller) < MAX_WAITING
    if (!hasRoom && !admitted.has(caller)) return crowded()
    admitted.add(caller)
    return undefined
  }

  function begin(): void {
    for (let thread = idle.pop(); thread !== undefined; thread = idle.pop()) {
      const scan = turns.take(jobsRunning < jobThreads)
      if (scan === undefined) {
        idle.push(thread)
        return
      }
      void work(thread, scan)
    }
  }

  async function work(thread: Thread, { query, isJob, resolve, reject }: Scan): Promise<void> {
    if (isJob) jobsRunning += 1
    await thread.ask(query).then(resolve, reject)
    if (isJob) jobsRunning -= 1
    idle.push(thread)
    begin()
  }

  return {
    run(text, params, shape) {
      const caller = callers.getStore() ?? SYSTEM
      const error = refusal(caller)
      if (error) return Promise.reject(error)
      const query: Query = { kind: 'query', text, params, shape }
      return new Promise((resolve, reject) => {
        turns.add(caller, { query, isJob: caller.isJob, resolve, reject })
        begin()
      })
    },
    scanFor: (caller, fn) => callers.run(caller, fn),
    async stop() {
      isStopped = true
      for (let scan = turns.take(true); scan; scan = turns.take(true)) scan.reject(closed())
      await Promise.all(threads.map((thread) => thread.stop()))
    },
  }
}

function crowded(): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', 'Too many requests of this project are waiting.', {
    details: { retryAfter: RETRY_AFTER_SECONDS },
  })
}
