/**
 * Runs scans, queries whose cost grows with a project, on threads. Each of the few threads runs one
 * scan at a time and starts when all others are busy; further scans wait (scan-queue.ts). Every
 * query has its own snapshot. A scan whose client has left is not run.
 */
import { AppError } from '../../base/errors.ts'
import { clientLeft, currentOwner, SYSTEM, type WorkOwner } from '../../turns/owner.ts'
import type { Run } from '../database.ts'
import { databaseError } from '../database-error.ts'
import { createScanQueue } from './scan-queue.ts'
import type { StoreThread } from './thread.ts'
import type { Query, StoreThreadSettings } from './thread-messages.ts'

export type Readers = {
  /** Each scan waits in the line of the current owner (`turns/owner.ts`). */
  run: Run
  /** The scan threads, and the scans that wait for one. */
  load(): ScanLoad
  /** Finishes running scans; waiting and later ones fail with DATABASE_ERROR. */
  stop(): Promise<void>
}

export type ScanLoad = { running: number; busy: number; waiting: number }

type ReadThread = Pick<StoreThread, 'ask' | 'stop'>
type Scan = {
  query: Query
  owner: WorkOwner
  resolve(result: unknown): void
  reject(error: unknown): void
}

/**
 * The maximum number of waiting scans of a project; beyond it, requests are refused. A page of a
 * list takes two scans.
 */
export const MAX_WAITING = 200
const RETRY_AFTER_SECONDS = 5

export function createReaders(
  { path }: StoreThreadSettings,
  threads: readonly ReadThread[],
): Readers {
  /** Callers whose first scan was admitted: their further scans are not refused. */
  const admitted = new WeakSet<WorkOwner>([SYSTEM])
  const queue = createScanQueue<Scan>()
  const idle = [...threads]
  /** A scan cannot be interrupted, so jobs never get all threads, unless there is only one. */
  const jobThreads = Math.max(1, threads.length - 1)
  let jobsRunning = 0
  let isStopped = false
  const closed = () => databaseError(new Error('The store is closed.'), path)

  function refusal(owner: WorkOwner): AppError | undefined {
    if (isStopped) return closed()
    if (hasLeft({ owner })) return clientLeft()
    if (!isWithinLimit(owner) && !isAdmitted(owner)) return tooManyWaiting()
    admitted.add(owner)
    return undefined
  }

  /** What has changed something goes on. */
  function isAdmitted(owner: WorkOwner): boolean {
    return owner.hasChanged === true || admitted.has(owner)
  }

  function isWithinLimit(owner: WorkOwner): boolean {
    if (owner.isJob || queue.countWaiting(owner) < MAX_WAITING) return true
    for (const { reject } of queue.takeOut(hasLeft)) reject(clientLeft())
    return queue.countWaiting(owner) < MAX_WAITING
  }

  /** The next scan that somebody waits for. */
  function next(): Scan | undefined {
    for (;;) {
      const scan = queue.take(jobsRunning < jobThreads)
      if (scan === undefined || !hasLeft(scan)) return scan
      scan.reject(clientLeft())
    }
  }

  function begin(): void {
    for (let thread = idle.pop(); thread !== undefined; thread = idle.pop()) {
      const scan = next()
      if (scan === undefined) {
        idle.push(thread)
        return
      }
      void work(thread, scan)
    }
  }

  async function work(thread: ReadThread, { query, owner, resolve, reject }: Scan): Promise<void> {
    const { isJob } = owner
    if (isJob) jobsRunning += 1
    await thread.ask(query).then(resolve, reject)
    if (isJob) jobsRunning -= 1
    idle.push(thread)
    begin()
  }

  return {
    run(text, params, shape) {
      const owner = currentOwner()
      const error = refusal(owner)
      if (error) return Promise.reject(error)
      const query: Query = { kind: 'query', text, params, shape }
      return new Promise((resolve, reject) => {
        queue.add(owner, { query, owner, resolve, reject })
        begin()
      })
    },
    load: () => ({
      running: threads.length,
      busy: threads.length - idle.length,
      waiting: queue.countAll(),
    }),
    async stop() {
      isStopped = true
      for (let scan = queue.take(true); scan; scan = queue.take(true)) scan.reject(closed())
      await Promise.all(threads.map((thread) => thread.stop()))
    },
  }
}

function hasLeft({ owner }: Pick<Scan, 'owner'>): boolean {
  return owner.client?.hasLeft() === true
}

function tooManyWaiting(): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', 'Too many of your requests are waiting.', {
    details: { retryAfter: RETRY_AFTER_SECONDS },
  })
}
