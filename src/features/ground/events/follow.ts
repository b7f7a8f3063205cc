/**
 * Followers of the events of all projects, or of other rows that are only added. A follower's handler
 * gets each row in the order of commits (`seq`). The cursor is saved in the transaction of the handler's
 * writes, so a crash or an error keeps both or neither. Campaigns keep their figures so.
 *
 *   idle       the follower reads nothing until rows are added; the store knows without a query
 *   linger     a follower may wait a moment after a commit, so that it handles many commits at once,
 *              and with other followers, or with what is written anyway, in one transaction
 *   behind     one transaction for each batch: rows, the handler's writes, the new cursor. The number of
 *              rows in a batch adapts to the time that it takes. After a batch that was not full it
 *              lingers again
 *   far behind batches are full: a follower may rest between them, so that other writes stay fast
 *   failed     the batch is rolled back, and its events are handled one by one. Events before the
 *              failing one succeed, and the log names the failing one. It is tried again after one
 *              second, then after twice as long each time, at most a minute
 *
 * A handler that writes nothing saves no cursor: that waits for a batch with writes, or for a second. So
 * after a crash rows of the last second may come again, as if the follower had been late; what their
 * handler did then was to write nothing.
 *
 * No event is skipped: a failing event blocks the later ones, and each failure is logged. A handler that can
 * fail for a single event, or does more than write to the database, enqueues a job for each (`work/jobs/enqueue.ts`).
 */
import { MINUTE_MS, SECOND_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import type { Store } from '../../../store/store.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { createBatchPace } from '../../../work/jobs/pace.ts'
import type { Base } from '../base.ts'
import { type Followed, handleBatch } from './follower-batch.ts'
import { loadCursor, saveCursor } from './follower-cursor.ts'
import { createPauses, lingerFor, patienceFor } from './follower-pause.ts'

export type FollowerOptions<Row extends { seq: number }> = Followed<Row> & {
  /** The maximum number of rows in a transaction; 100 if absent. */
  batch?: number
  /**
   * How long it waits after a commit before it reads; 0 if absent. From `BEAT_MS` (`follower-pause.ts`) on it goes
   * on at the last multiple of that before the time is over. One with much to do waits for the next multiple at least.
   */
  lingerMs?: number
  /**
   * Returns how many times as long as a batch took it rests before the next one, while it is far behind
   * and nobody waits for it. If absent, it does not rest. Its batches are heavy writes then.
   */
  restTimes?: () => number
  /**
   * Where a new follower starts: with the oldest row (the default), or after the row that is the newest when
   * its cursor is first looked for, right after its start.
   */
  beginsAt?: 'oldest' | 'newest'
  /**
   * Whether any row may matter, asked before a batch; if not, the follower passes over all that are committed,
   * unread. What begins later to care for rows must care only for those that are added after it.
   */
  mayMatter?(read: Pick<Store['read'], 'find'>): Promise<boolean>
  /** For tests: ms. */
  clock?: () => number
}

export type Follower = {
  /**
   * For tests; the program waits for no follower. Resolves when all rows committed before the call are handled,
   * and the cursor is saved; rejects after `stop`.
   */
  caughtUp(): Promise<void>
  /** Finishes the current batch. */
  stop(): Promise<void>
}

type Deps = Pick<Base, 'store' | 'log' | 'now'>

const DEFAULT_BATCH = 100
/** How long a cursor may wait to be saved. */
const SAVE_AFTER_MS = SECOND_MS
/** Nothing is known of its rows. */
const MAX_FIRST_BATCH = 500
/** How long a batch should hold the writer. */
const BATCH_MS = 12
/** The longest rest. */
const MAX_REST_MS = 1_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = MINUTE_MS

export function startFollower<Row extends { seq: number }>(
  deps: Deps,
  options: FollowerOptions<Row>,
): Follower {
  const { store, log, now } = deps
  const { rows, name, beginsAt = 'oldest', batch: batchSize = DEFAULT_BATCH } = options
  const { lingerMs = 0, restTimes = () => 0, clock = () => performance.now() } = options
  const { table } = rows
  const first = Math.min(batchSize, MAX_FIRST_BATCH)
  const pace = createBatchPace({ first, max: batchSize, batchMs: BATCH_MS, clock })
  const pauses = createPauses()
  let waiting: PromiseWithResolvers<void>[] = []
  let isStopping = false
  let running: Promise<void> | undefined
  let seq: number | undefined
  /** The cursor is not saved yet; the timer saves it. */
  let saving: NodeJS.Timeout | undefined
  let isSaveDue = false
  /** The stored cursor may be ahead: a write failed, and nobody knows whether it was durable. */
  let isUnsure = true
  /** Rows that are still handled one by one, because their batch failed. */
  let suspects = 0
  /** The most rows that the last transaction could handle. */
  let limit = batchSize
  let failures = 0
  /** How long the last batch took, if it was full. */
  let fullMs = 0
  let last = { rows: 0, endedAt: Number.NEGATIVE_INFINITY, isAll: false }

  /** Also if the number went back: the last rows' numbers were taken away by hand. */
  const isBehind = () => seq === undefined || store.lastNumber(table) !== seq
  const hasWork = () => isBehind() || isUnsure || isSaveDue || waiting.length > 0

  function wake(): void {
    if (running !== undefined || isStopping || !hasWork()) return
    running = follow().finally(() => {
      running = undefined
      wake()
    })
  }

  async function follow(): Promise<void> {
    while (!isStopping && hasWork()) {
      if (isBehind() && lingerMs > 0) {
        await pauseUnlessAwaited(lingerFor({ lingerMs, at: clock(), ...last }))
      }
      const asking = waiting
      try {
        if (isUnsure) await load()
        await catchUp()
        if (isStopping) return
        if (isSaveDue || (saving !== undefined && asking.length > 0)) await save()
        failures = 0
        waiting = waiting.filter((each) => !asking.includes(each))
        for (const { resolve } of asking) resolve()
      } catch (error) {
        await recover(error)
      }
    }
  }

  async function load(): Promise<void> {
    const stored = await loadCursor(deps, { name, table, beginsAt })
    seq = Math.max(stored, seq ?? 0)
    isUnsure = false
  }

  async function catchUp(): Promise<void> {
    while (!isStopping && isBehind()) {
      await advance(seq ?? 0)
      if (last.isAll && waiting.length === 0) return
    }
  }

  async function advance(from: number): Promise<void> {
    const committed = store.lastNumber(table)
    // The question is asked in this turn: it sees all that is committed, and nothing more.
    if (committed > from && suspects === 0 && (await options.mayMatter?.(store.read)) === false) {
      pass(committed)
      return
    }
    const restMs = fullMs === 0 ? 0 : Math.min(MAX_REST_MS, restTimes() * fullMs)
    const isFar = restMs > 0
    if (isFar) await pauseUnlessAwaited(restMs)
    if (isStopping) return
    limit = suspects > 0 ? 1 : pace.size()
    const act = (tx: Tx) => handleBatch(deps, tx, { ...options, from, limit, clock })
    const done = await store.write(act, isFar ? { heavyFor: name } : patience())
    const endedAt = clock()
    // A heavy write is alone in its transaction, so the commit is its own, too.
    const tookMs = isFar ? endedAt - done.startedAt : done.tookMs
    seq = done.seq
    noteUnsaved(!done.isSaved)
    // A slow disk takes long for the smallest commit: smaller batches would not help.
    if (done.rows > 0) pace.record(done.rows, Math.min(tookMs, 2 * done.tookMs))
    fullMs = suspects === 0 && done.rows === limit ? tookMs : 0
    last = { rows: done.rows, endedAt, isAll: done.isAll }
    if (seq === from) return
    failures = 0
    suspects = Math.max(0, suspects - 1)
  }

  function pass(committed: number): void {
    last = { rows: committed - (seq ?? 0), endedAt: clock(), isAll: true }
    seq = committed
    fullMs = 0
    noteUnsaved(true)
  }

  async function save(): Promise<void> {
    const cursor = { name, seq: seq ?? 0, at: now() }
    await store.write((tx) => saveCursor(tx, cursor), patience())
    noteUnsaved(false)
  }

  function patience(): { patienceMs: number } {
    const isHurried = waiting.length > 0 || isStopping || !last.isAll
    return { patienceMs: isHurried ? 0 : patienceFor({ lingerMs, rows: last.rows }) }
  }

  function noteUnsaved(isUnsaved: boolean): void {
    if (isUnsaved) {
      saving ??= setTimeout(() => {
        isSaveDue = true
        wake()
      }, SAVE_AFTER_MS).unref()
      return
    }
    clearTimeout(saving)
    saving = undefined
    isSaveDue = false
  }

  async function pauseUnlessAwaited(ms: number): Promise<void> {
    if (waiting.length === 0 && !isStopping) await pauses.pause(ms, true)
  }

  async function recover(error: unknown): Promise<void> {
    // After a failed batch, its events come one by one; a read that fails again has nothing to try alone.
    const isAlone = suspects > 0 || limit === 1
    const facts = { error: describeError(error), follower: name, afterSeq: seq, isAlone }
    log.error(facts, 'a follower failed to handle events and will try again')
    isUnsure = true
    suspects = Math.max(suspects, limit)
    if (!isAlone || isStopping) return
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
    failures += 1
    await pauses.pause(pauseMs, false)
  }

  const unwatch = [store.onCommit(wake), store.onExternalChange(wake)]
  wake()
  return {
    caughtUp() {
      if (isStopping) return Promise.reject(stopped())
      const caller = Promise.withResolvers<void>()
      waiting = [...waiting, caller]
      pauses.hurry()
      wake()
      return caller.promise
    },
    async stop() {
      isStopping = true
      for (const end of unwatch) end()
      pauses.end()
      await running
      // What is not saved comes again at the next start. After a failed write a newer one may be stored.
      if (saving !== undefined && !isUnsure) await save().catch(() => undefined)
      clearTimeout(saving)
      for (const { reject } of waiting.splice(0)) reject(stopped())
    },
  }
}

function stopped(): Error {
  return new Error('The follower was stopped.')
}
