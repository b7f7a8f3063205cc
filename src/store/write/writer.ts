/**
 * The write path: every write of this process goes through one connection and one queue, in which
 * heavy writes do not hold up light ones (write-queue.ts). The callers of one turn of the event
 * loop, and under load those of some milliseconds (`createCommitPace`), share a transaction (group.ts).
 * The loop turns between groups and within a heavy write. The writer waits for the lock of another
 * process (the command line) with timers, never by blocking; writes that have waited too long fail.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
// This timer is not the global function: when a test stops the time, the writer goes on.
import { setTimeout as later } from 'node:timers'
import type { Counters } from '../../base/counters.ts'
import type { Log } from '../../base/log.ts'
import { goOn } from '../../turns/owner.ts'
import type { Connection } from '../connection.ts'
import { databaseError, isBusy } from '../database-error.ts'
import { createGroupRunner, type WriteRequest } from './group.ts'
import type { LastNumbers } from './last-numbers.sqlite.ts'
import type { Transaction, Tx } from './transaction.ts'
import { createWriteQueue } from './write-queue.ts'

const MAX_LOCK_WAIT_MS = 5000
const MAX_RETRY_DELAY_MS = 8

export type WriteOptions = {
  /**
   * Set for a heavy write, which may take more than about 5 ms: its owner, a project's id or a
   * name. Heavy writes of different owners alternate, and a light write waits for at most one of
   * them.
   */
  heavyFor?: string | undefined
  /**
   * How many callers wait for the write, asked before and after it runs; 1 if absent. Set it if the closure
   * writes what many callers want: the number of callers paces commits (`createCommitPace`). Call
   * `recountCallers` when there are more callers.
   */
  callers?: (() => number) | undefined
  /** How long the write may wait for the transaction of another one, so that both share a commit (ms); 0 if absent. */
  patienceMs?: number
}

export type WriteCounts = { committed: number; waiting: number }

export type Writer = {
  /** Writes as `Store.write` does (store.ts). */
  write<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Counts the callers again, as `Store.recountCallers` does. */
  recountCallers(): void
  /** How many writes were committed so far, and how many wait for their commit. */
  counts(): WriteCounts
  /** Finishes queued writes; later calls fail with a TypeError. */
  close(): Promise<void>
}

type Deps = {
  connection: Connection
  log: Log
  counters?: Counters | undefined
  numbers: LastNumbers
  /** @throws when writes would be lost, because the files are gone */
  checkFiles(): void
  onCommit(): void
  onError(error: unknown): void
}

export type CommitPace = {
  /** Call this at the end of a group. `callers` waited for it; `waiting` wait for the next group already. */
  ended(callers: number, waiting: number): void
  /** How long the next group waits from now on (ms); 0 if it may begin. `callers` wait for it. */
  waitMs(callers: number): number
}

/** The longest time from the end of a group to the next one. */
const COMMIT_PACE_MS = 5
/** The pace of commits applies when at least this number of callers is known. */
const MANY_CALLERS = 4
/**
 * The share of the known callers that is enough: some callers were the server's own work, which comes at
 * any time.
 */
const ENOUGH_CALLERS = 0.8

export function createWriter(deps: Deps, pace: CommitPace = createCommitPace(now)): Writer {
  const { connection, counters, checkFiles, onCommit, onError } = deps
  const active = new AsyncLocalStorage<Transaction>()
  /** A group has many callers, so it runs in none of their asynchronous contexts. */
  const inNoContext = AsyncLocalStorage.snapshot()
  const groups = createGroupRunner({ ...deps, active })
  const queue = createWriteQueue()
  const counts: WriteCounts = { committed: 0, waiting: 0 }
  let isStarted = false
  let closed: (() => void) | undefined
  /** Set while the next group waits for more callers. */
  let pause: NodeJS.Timeout | undefined
  /** Set while all waiting writes are patient. */
  let patience: NodeJS.Timeout | undefined
  let retryDelayMs = 1
  /** When this process first met the lock that another process still holds. */
  let busySince: number | undefined

  function write<T>(
    fn: (tx: Tx) => Promise<T>,
    { heavyFor, callers, patienceMs = 0 }: WriteOptions = {},
  ): Promise<T> {
    if (active.getStore()?.isOpen) return refuse('store.write cannot be called inside its closure.')
    if (closed) return refuse('The store is closed.')
    goOn()
    return new Promise((resolve, reject) => {
      counts.waiting += 1
      const settle: Pick<WriteRequest, 'resolve' | 'reject'> = {
        resolve(value) {
          counts.waiting -= 1
          counts.committed += 1
          resolve(value as T)
        },
        reject(error) {
          counts.waiting -= 1
          reject(error)
        },
      }
      const isHeavy = heavyFor !== undefined
      const queuedAt = now()
      const times = { queuedAt, dueAt: queuedAt + patienceMs }
      const request = { run: fn, callers, isHeavy, ...times, isSecondRun: false }
      queue.add({ ...request, ...settle }, heavyFor)
      startNext()
    })
  }

  function recountCallers(): void {
    if (pause === undefined || waitMs() > 0) return
    clearTimeout(pause)
    pause = undefined
    setImmediate(inNoContext, runNext)
  }

  function startNext(): void {
    recountCallers()
    if (isStarted) return
    clearTimeout(patience)
    const ms = closed === undefined ? queue.dueAt() - now() : 0
    if (ms > 0) patience = later(begin, ms)
    else begin()
  }

  function begin(): void {
    isStarted = true
    setImmediate(inNoContext, runInPace)
  }

  function runInPace(): void {
    const ms = waitMs()
    if (ms === 0) return void runNext()
    pause = later(() => {
      pause = undefined
      void runNext()
    }, ms)
  }

  function waitMs(): number {
    const callers = queue.callers()
    return callers === undefined || closed !== undefined ? 0 : pace.waitMs(callers)
  }

  async function runNext(): Promise<void> {
    if (queue.mustYield()) {
      setImmediate(runNext)
      return
    }
    if (open()) {
      const from = now()
      const group = queue.next()
      const waitedMs = from - group.reduce((first, { dueAt }) => Math.min(first, dueAt), from)
      const { callers, yieldedMs } = await groups.run(group)
      const tookMs = now() - from - yieldedMs
      queue.took(tookMs)
      pace.ended(callers, queue.callers() ?? 0)
      counters?.observe('pillarbox_write_wait_seconds', waitedMs)
      counters?.observe('pillarbox_commit_duration_seconds', tookMs)
      onCommit()
    } else if (!queue.isEmpty()) {
      setTimeout(runNext, retryDelayMs)
      return
    }
    isStarted = false
    if (queue.isEmpty()) closed?.()
    else startNext()
  }

  /**
   * Begins a transaction; false while another process holds the lock, or after all callers have
   * failed.
   */
  function open(): boolean {
    try {
      checkFiles()
      groups.begin()
      retryDelayMs = 1
      busySince = undefined
      return true
    } catch (error) {
      onError(error)
      const givenUp = isBusy(error) ? queuedTooLongAgo() : Number.POSITIVE_INFINITY
      for (const request of queue.takeQueuedUntil(givenUp))
        request.reject(databaseError(error, connection.path))
      retryDelayMs = Math.min(retryDelayMs * 2, MAX_RETRY_DELAY_MS)
      return false
    }
  }

  /** The time for which a write waited behind other writes of this process does not count. */
  function queuedTooLongAgo(): number {
    const at = now()
    busySince ??= at
    return at - busySince < MAX_LOCK_WAIT_MS ? Number.NEGATIVE_INFINITY : at - MAX_LOCK_WAIT_MS
  }

  function close(): Promise<void> {
    return new Promise((resolve) => {
      closed = resolve
      if (!isStarted && queue.isEmpty()) resolve()
      else startNext()
    })
  }

  return { write, recountCallers, counts: () => ({ ...counts }), close }
}

function now(): number {
  return performance.now()
}

function refuse(text: string): Promise<never> {
  return Promise.reject(new TypeError(text))
}

/**
 * The pace of commits. A commit costs as much as the rows of many writes. Under load, therefore, a group of
 * writes begins some milliseconds after the last group, or once most of the callers are back whom the last group
 * served or left waiting. A few callers never wait. A caller that writes alone, each write after the answer to
 * the write before, waits once, right after a load: the first caller who comes back cannot know whether the
 * others will. Without this wait groups would be about half as large.
 *
 * `clock`: a monotonic clock, in milliseconds.
 */
export function createCommitPace(clock: () => number): CommitPace {
  let known = 0
  let endsAt = Number.NEGATIVE_INFINITY
  return {
    ended(callers, waiting) {
      known = callers + waiting
      endsAt = clock() + COMMIT_PACE_MS
    },
    waitMs: (callers) =>
      known < MANY_CALLERS || callers >= known * ENOUGH_CALLERS ? 0 : Math.max(0, endsAt - clock()),
  }
}
