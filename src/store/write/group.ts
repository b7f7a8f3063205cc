/**
 * One group commit: the closures of many callers run one after another inside one BEGIN IMMEDIATE …
 * COMMIT. Terms: a *request* is a closure with its caller; a *group* is the requests that share a
 * transaction.
 *
 *   the closure resolves          its work stays; its promise resolves once the group is durable
 *   the closure rejects           its own work is undone, the others' stays
 *   it awaits anything but its    (it has not settled when the microtask queue is empty) its work is
 *   queries and `yieldToLoop`     undone, and its promise rejects with a TypeError
 *   the transaction is gone       (disk full, I/O error) nothing of the group stays; all callers
 *                                 get DATABASE_ERROR
 *   the files are gone            (removed under the server) the commit may be lost, so all callers
 *                                 get DATABASE_ERROR
 *
 * Undoing one closure needs a savepoint, which costs as much as a closure's own statements (SQLite
 * copies every page before its first change) and is seldom needed. So a group first runs without
 * savepoints: when a closure has written and then fails, the group is rolled back, and the requests
 * before it return to the front of the queue, to run again in a group with savepoints.
 *
 * Queries run on this thread and their promises resolve in microtasks, so a whole group runs in one
 * drain of the microtask queue, and no caller continues before the group is durable. Only a heavy
 * request, which has a group of its own, yields to the event loop: readers use another connection
 * and do not see its work, and writers wait in the queue.
 */
import type { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as loopTurn } from 'node:timers/promises'
import type { Counters } from '../../base/counters.ts'
import type { Log } from '../../base/log.ts'
import type { Connection } from '../connection.ts'
import type { RunSql } from '../database.ts'
import { databaseError } from '../database-error.ts'
import type { LastNumbers } from './last-numbers.sqlite.ts'
import { Transaction, type Tx } from './transaction.ts'

const MAX_CLOSURES = 256
const MAX_DURATION_MS = 5
/** How long a heavy request runs before it yields to the event loop. */
const MAX_STRETCH_MS = 10

export type WriteRequest = {
  run(tx: Tx): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  /** The number of callers that wait for the request by now; 1 if absent. */
  callers?: (() => number) | undefined
  /** The request is alone in its group and yields to the event loop. */
  isHeavy: boolean
  /** `performance.now()` of the call, and until when it may wait for the group of another request. */
  queuedAt: number
  dueAt: number
  /** The first run was rolled back because another closure failed. */
  isSecondRun: boolean
}

type ClosureResult = { isFulfilled: true; value: unknown } | { isFulfilled: false; error: unknown }
type Closure = {
  request: WriteRequest
  tx: Transaction
  result: ClosureResult
  hasWritten: boolean
}
type Deps = {
  connection: Connection
  active: AsyncLocalStorage<Transaction>
  log: Log
  counters?: Pick<Counters, 'add'> | undefined
  numbers: LastNumbers
  /** @throws when the commit may be lost, because the files are gone */
  checkFiles(): void
  /** Called with every error of a query or of the transaction. */
  onError(error: unknown): void
}

/**
 * `callers`: the number of callers that waited for the group. `yieldedMs`: the time for which the event
 * loop ran other work.
 */
type GroupEnd = { callers: number; yieldedMs: number }

type GroupRunner = {
  /** Opens the transaction. @throws SQLite's error; SQLITE_BUSY when others are writing. */
  begin(): void
  /**
   * Takes requests from the front of `queue`, runs them, commits and settles them; puts back those
   * that run a second time.
   */
  run(queue: WriteRequest[]): Promise<GroupEnd>
}

export function createGroupRunner(deps: Deps): GroupRunner {
  const { connection, active, log, counters, numbers, checkFiles } = deps
  const begin = connection.command('BEGIN IMMEDIATE')
  const commit = connection.command('COMMIT')
  const rollback = connection.command('ROLLBACK')
  const open = connection.command('SAVEPOINT closure')
  const release = connection.command('RELEASE closure')
  const undo = connection.command('ROLLBACK TO closure')
  /** The last numbers could not be read after a group had failed. */
  let areNumbersOld = false

  async function run(queue: WriteRequest[]): Promise<GroupEnd> {
    const hasSavepoints = queue[0]?.isSecondRun === true
    const group = createGroup(deps)
    const closures: Closure[] = []
    const writesBefore = connection.writes()
    const endsAt = performance.now() + MAX_DURATION_MS
    let mustUndo = false
    // `process.nextTick` called in a microtask runs after the microtasks have run out.
    await null
    group.watch()
    do {
      const request = queue.shift()
      if (!request) break
      const closure = await runClosure(group, request, hasSavepoints)
      closures.push(closure)
      mustUndo = !hasSavepoints && !closure.result.isFulfilled && closure.hasWritten
    } while (
      !mustUndo &&
      !group.failure() &&
      closures.length < MAX_CLOSURES &&
      performance.now() < endsAt
    )
    let added: ReturnType<LastNumbers['read']> | undefined
    if (!mustUndo && (areNumbersOld || connection.writes() > writesBefore)) {
      group.attempt(() => {
        added = numbers.read()
      })
    }
    group.attempt(mustUndo ? rollback : commit)
    group.attempt(checkFiles)
    if (group.failure()) abandon(group.failure())
    else if (added !== undefined) know(added)
    group.close()
    const isAgain = ({ result }: Closure) => mustUndo && !group.failure() && result.isFulfilled
    queue.unshift(...closures.filter(isAgain).map(({ request }) => secondRun(request)))
    for (const closure of closures) if (!isAgain(closure)) settle(closure, group.failure())
    return {
      callers: countCallers(closures.map(({ request }) => request)),
      yieldedMs: group.yieldedMs(),
    }
  }

  function know(added: ReturnType<LastNumbers['read']>): void {
    numbers.set(added)
    areNumbersOld = false
  }

  function abandon(failure: unknown): void {
    counters?.add('pillarbox_commit_failures_total')
    log.error({ error: failure }, 'a group of writes failed')
    areNumbersOld = true
    try {
      if (connection.isInTransaction()) rollback()
      // The commit may have been durable: the files may have been away for a moment only.
      know(numbers.read())
    } catch (error) {
      log.error({ error }, 'a group of writes could not be rolled back, or its rows not be counted')
    }
  }

  async function runClosure(
    group: WriteGroup,
    request: WriteRequest,
    hasSavepoint: boolean,
  ): Promise<Closure> {
    const { run } = group
    const yieldIfDue = request.isHeavy ? group.yieldIfDue : undefined
    const tx = new Transaction({ run, writes: connection.writes, yieldIfDue })
    if (hasSavepoint) group.attempt(open)
    const result = await group.settled(tx, active.run(tx, invoke, request, tx))
    if (hasSavepoint && !result.isFulfilled) group.attempt(undo)
    if (hasSavepoint) group.attempt(release)
    return { request, tx, result, hasWritten: tx.hasWritten() }
  }

  function settle({ request, tx, result }: Closure, failure: unknown): void {
    if (failure || !result.isFulfilled) {
      request.reject(failure ?? (result.isFulfilled ? undefined : result.error))
      return
    }
    for (const callback of tx.afterCommits) {
      try {
        callback()
      } catch (error) {
        log.error({ error }, 'a callback after a commit failed')
      }
    }
    request.resolve(result.value)
  }

  return { begin, run }
}

type WriteGroup = {
  run: RunSql
  /** The error for which the whole group fails, if any. */
  failure(): unknown
  /** Runs a command of the transaction; does nothing once the group has failed. */
  attempt(command: () => void): void
  /** The result of a closure; a TypeError when it awaits more than queries. */
  settled(tx: Transaction, promise: Promise<unknown>): Promise<ClosureResult>
  watch(): void
  /** Yields to the event loop if the closure has run long enough. */
  yieldIfDue(): Promise<void>
  /** The time for which the event loop ran other work. */
  yieldedMs(): number
  close(): void
}

function createGroup({ connection, onError }: Pick<Deps, 'connection' | 'onError'>): WriteGroup {
  let failure: unknown
  let isClosed = false
  let yielding: Promise<void> | undefined
  let yieldedAt = performance.now()
  let yieldedMs = 0
  let failLate: (() => void) | undefined

  function attempt(command: () => void): void {
    if (failure) return
    try {
      command()
    } catch (error) {
      onError(error)
      failure = databaseError(error, connection.path)
    }
  }

  function settled(tx: Transaction, promise: Promise<unknown>): Promise<ClosureResult> {
    return new Promise((resolve) => {
      const end = (result: ClosureResult) => {
        if (!tx.isOpen) return
        tx.end()
        resolve(result)
      }
      failLate = () => end({ isFulfilled: false, error: late() })
      promise.then(
        (value) => end({ isFulfilled: true, value }),
        (error) => end({ isFulfilled: false, error }),
      )
    })
  }

  function watch(): void {
    process.nextTick(() => {
      if (isClosed || yielding !== undefined) return
      failLate?.()
      queueMicrotask(watch)
    })
  }

  async function yieldIfDue(): Promise<void> {
    if (yielding === undefined && performance.now() - yieldedAt < MAX_STRETCH_MS) return
    yielding ??= yieldOnce()
    await yielding
  }

  async function yieldOnce(): Promise<void> {
    const from = performance.now()
    await loopTurn()
    yieldedAt = performance.now()
    yieldedMs += yieldedAt - from
    yielding = undefined
    watch()
  }

  return {
    run(text, params, shape) {
      if (failure) throw failure
      try {
        return connection.run(text, params, shape)
      } catch (error) {
        onError(error)
        if (!connection.isInTransaction()) failure = databaseError(error, connection.path)
        throw error
      }
    },
    failure: () => failure,
    attempt,
    settled,
    watch,
    yieldIfDue,
    yieldedMs: () => yieldedMs,
    close: () => {
      isClosed = true
    },
  }
}

export function countCallers(requests: readonly WriteRequest[]): number {
  return requests.reduce((sum, { callers }) => sum + (callers?.() ?? 1), 0)
}

/** Async, so that a closure that throws, or returns a builder, still gives a promise. */
async function invoke(request: WriteRequest, tx: Tx): Promise<unknown> {
  return request.run(tx)
}

function secondRun(request: WriteRequest): WriteRequest {
  return { ...request, isSecondRun: true }
}

function late(): TypeError {
  return new TypeError('A closure of store.write may await nothing but its own queries.')
}
