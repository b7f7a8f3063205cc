/**
 * Runs scans, queries whose cost grows with a project, on threads. Each of the few threads runs one
 * scan at a time and starts when all others are busy; further scans wait in lines by project
 * (`createScanQueue`). Every query has its own snapshot. A scan whose client has left is not run, and
 * neither is a scan of the server's own loops that would find nothing again (`spareEmptyScans`).
 */
import { AppError } from '../../base/errors.ts'
import { createFairQueue } from '../../turns/fair-queue.ts'
import { clientLeft, currentOwner, SYSTEM_OWNER, type WorkOwner } from '../../turns/owner.ts'
import type { ResultShape } from '../connection.ts'
import type { RunSql } from '../database.ts'
import { databaseError } from '../database-error.ts'
import type { StoreThread } from './thread.ts'
import type { ScanQuery, StoreThreadSettings } from './thread-messages.ts'

export type Readers = {
  /** Each scan waits in the line of the current owner (`turns/owner.ts`). */
  run: RunSql
  /** The scan threads, and the scans that wait for one. */
  load(): ScanLoad
  /** Finishes running scans; waiting and later ones fail with DATABASE_ERROR. */
  stop(): Promise<void>
}

export type ScanLoad = { running: number; busy: number; waiting: number }

type ReadThread = Pick<StoreThread, 'ask' | 'stop'>

type Scan = {
  query: ScanQuery
  owner: WorkOwner
  resolve(result: unknown): void
  reject(error: unknown): void
}

/**
 * The maximum number of waiting scans of a project; beyond it, requests are refused. A page of a
 * list takes two scans.
 */
export const MAX_WAITING_SCANS = 200
const RETRY_AFTER_SECONDS = 5

type ScanQueue<Scan> = {
  add(owner: WorkOwner, scan: Scan): void
  /** Removes and returns the next scan. */
  take(mayBeJob: boolean): Scan | undefined
  /** The number of waiting scans in all lines. */
  countAll(): number
  /** The number of waiting scans in the owner's line. */
  countWaiting(owner: WorkOwner): number
  /** Removes and returns all scans for which `isOver` is true. */
  takeOut(isOver: (scan: Scan) => boolean): Scan[]
}

const REQUESTS_PER_JOB = 4
/**
 * How long rows must be unchanged before empty scans are spared. Loops with work to do look again sooner.
 */
const REST_MS = 10_000
/** How many empty scans are remembered; at this limit all of them are forgotten. */
const MAX_KNOWN = 200
const READS_JOBS = /\bjob/

export function createReaders(
  { path }: StoreThreadSettings,
  threads: readonly ReadThread[],
): Readers {
  /** Callers whose first scan was admitted: their further scans are not refused. */
  const admitted = new WeakSet<WorkOwner>([SYSTEM_OWNER])
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

  /**
   * Whether the owner's scans are not refused: its first scan was admitted, or its work has changed
   * something and must go on.
   */
  function isAdmitted(owner: WorkOwner): boolean {
    return owner.hasChanged === true || admitted.has(owner)
  }

  function isWithinLimit(owner: WorkOwner): boolean {
    if (owner.isJob || queue.countWaiting(owner) < MAX_WAITING_SCANS) return true
    for (const { reject } of queue.takeOut(hasLeft)) reject(clientLeft())
    return queue.countWaiting(owner) < MAX_WAITING_SCANS
  }

  /** Removes and returns the next scan that somebody still waits for. */
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
      const query: ScanQuery = { kind: 'query', text, params, shape }
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

/**
 * The order of scans. Each project has a line and the lines are served in turn, so that a project
 * with many scans delays mostly itself. Scans of jobs have separate lines behind those of requests:
 * a job's scan is taken when no request waits, or after a few requests, so that requests cannot stop
 * all jobs.
 */
function createScanQueue<Scan>(): ScanQueue<Scan> {
  const requests = createFairQueue<Scan>()
  const jobs = createFairQueue<Scan>()
  let passedOver = 0
  const linesOf = ({ isJob }: WorkOwner) => (isJob ? jobs : requests)

  return {
    add: (owner, scan) => linesOf(owner).add(owner.key, scan),
    take(mayBeJob) {
      if (!mayBeJob || jobs.isEmpty()) return requests.take()
      const isJob = requests.isEmpty() || passedOver === REQUESTS_PER_JOB
      passedOver = isJob ? 0 : passedOver + 1
      return (isJob ? jobs : requests).take()
    },
    countAll: () => requests.countAll() + jobs.countAll(),
    takeOut: (isOver) => [...requests.takeOut(isOver), ...jobs.takeOut(isOver)],
    countWaiting: (owner) => linesOf(owner).count(owner.key),
  }
}

/**
 * Spares the loops of a server at rest their empty scans: when no rows have changed for ten seconds, a scan
 * that found nothing since the last change does not run again, and no scan threads start. The result of a scan
 * depends on its text, its parameters and the rows alone.
 *
 * Scans of requests and of commands always run. So do scans that read jobs, because rows of jobs do not count
 * as changed (`Connection.changes`).
 *
 * `state`: returns another text after each change of rows; undefined while rows may be changing, or if that
 * cannot be known.
 */
export function spareEmptyScans(run: RunSql, state: () => string | undefined): RunSql {
  const empty = new Set<string>()
  let emptyAt: string | undefined
  let since = 0

  function isEmpty(key: string): boolean {
    const at = state()
    const isKnown = at !== undefined && at === emptyAt && empty.has(key)
    return isKnown && performance.now() - since >= REST_MS
  }

  async function runAnew(...[text, params, shape]: Parameters<RunSql>): Promise<unknown> {
    const before = state()
    const found = await run(text, params, shape)
    if (before !== undefined && before === state() && isNothing(found)) {
      if (emptyAt !== before) since = performance.now()
      if (emptyAt !== before || empty.size >= MAX_KNOWN) empty.clear()
      emptyAt = before
      empty.add(keyOf(text, params))
    }
    return found
  }

  return (text, params, shape) => {
    if (!mayBeKnown(text, params)) return run(text, params, shape)
    return isEmpty(keyOf(text, params))
      ? Promise.resolve(nothing(shape))
      : runAnew(text, params, shape)
  }
}

function mayBeKnown(text: string, params: readonly unknown[]): boolean {
  return currentOwner().key === '' && !READS_JOBS.test(text) && params.every(isPlain)
}

function isPlain(value: unknown): boolean {
  return value === null || Number.isFinite(value) || ['string', 'boolean'].includes(typeof value)
}

function keyOf(text: string, params: readonly unknown[]): string {
  return JSON.stringify([text, params])
}

function isNothing(found: unknown): boolean {
  return found === undefined || (Array.isArray(found) && found.length === 0)
}

function nothing(shape: ResultShape): unknown {
  return shape === 'row' || shape === 'record' ? undefined : []
}
