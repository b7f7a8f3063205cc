/**
 * Followers of the events of all projects, or of other rows that are only added. A follower's handler
 * gets each row once, in the order of commits (`seq`). The cursor is saved in the transaction of the
 * handler's writes, so a crash or an error keeps both or neither. Campaigns keep their figures so.
 *
 *   idle       the follower reads nothing until a transaction commits
 *   linger     a follower may wait a moment after a commit, so that it handles many commits at once
 *   behind     one transaction for each batch: cursor, events, the handler's writes, the new cursor.
 *              The number of events in a batch adapts to the time that it takes
 *   far behind batches are full: a follower may rest between them, so that other writes stay fast
 *   failed     the batch is rolled back, and its events are handled one by one. Events before the
 *              failing one succeed, and the log names the failing one. It is tried again after one
 *              second, then after twice as long each time, at most a minute
 *
 * No event is skipped: a failing event blocks the later ones, and each failure is logged. A handler
 * that can fail for a single event, or that does more than write to the database, enqueues a job
 * for each event (`jobs/enqueue.ts`); jobs have attempts of their own.
 */
import { MINUTE_MS } from '../../clock.ts'
import { describeError } from '../../errors.ts'
import { createBatchPace } from '../../jobs/pace.ts'
import type { Statement } from '../../store/database.ts'
import { asc, desc, eq, gt } from '../../store/drizzle.ts'
import { type EventRow, eventFollowers, events } from '../../store/schema/events.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import type { FollowerName } from './followers.ts'

/** Rows to follow. `seq` rises in the order of commits. */
export type FollowedRows<Row> = {
  newest: Statement<{ seq: number }>
  /** The parameters are `seq` and `limit`. */
  listAfter: Statement<Row>
}

export type FollowerOptions<Row extends { seq: number }> = {
  rows: FollowedRows<Row>
  /**
   * The name of its cursor. A new name starts from the beginning. One follower of a name runs at a
   * time.
   */
  name: FollowerName
  /** The maximum number of rows in a transaction; 100 if absent. */
  batch?: number
  /** How long it waits after a commit before it reads; 0 if absent. */
  lingerMs?: number
  /**
   * Returns how many times as long as a batch took it rests before the next one, while it is far behind
   * and nobody waits for it. If absent, it does not rest. Its batches are heavy writes then.
   */
  restTimes?: () => number
  /**
   * Where a new follower starts: with the oldest row (the default), or after the row that is the
   * newest at its first `caughtUp`, which the caller then awaits first.
   */
  beginsAt?: 'oldest' | 'newest'
  /** For tests: ms. */
  clock?: () => number
  /**
   * Handles the rows; the rules of closures for `store.write` apply. A handler whose work would be too
   * much for one transaction calls `endAt` with the last row that it handles; the rows behind it come
   * again. It handles one at least.
   */
  handle(tx: Tx, rows: Row[], endAt: (row: Row) => void): Promise<void>
}

export type Follower = {
  /** Resolves when all rows committed before the call are handled; rejects after `stop`. */
  caughtUp(): Promise<void>
  /** Finishes the current batch. */
  stop(): Promise<void>
}

type Deps = Pick<Base, 'store' | 'log' | 'now'>

const DEFAULT_BATCH = 100
/** Nothing is known of its rows. */
const MAX_FIRST_BATCH = 500
/** How long a batch should hold the writer. */
const BATCH_MS = 12
/** The longest rest. */
const MAX_REST_MS = 1_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = MINUTE_MS

const findCursor = statement((db) =>
  db
    .select({ seq: eventFollowers.seq })
    .from(eventFollowers)
    .where(eq(eventFollowers.name, parameter('name'))),
)

const saveCursor = statement((db) =>
  db
    .insert(eventFollowers)
    .values({ name: parameter('name'), seq: parameter('seq'), updatedAt: parameter('at') })
    .onConflictDoUpdate({
      target: eventFollowers.name,
      set: { seq: parameter('seq'), updatedAt: parameter('at') },
    }),
)

/** The events of all projects. */
export const EVENTS: FollowedRows<EventRow> = {
  newest: statement((db) =>
    db.select({ seq: events.seq }).from(events).orderBy(desc(events.seq)).limit(1),
  ),
  listAfter: statement((db) =>
    db
      .select()
      .from(events)
      .where(gt(events.seq, parameter('seq')))
      .orderBy(asc(events.seq))
      .limit(parameter('limit')),
  ),
}

export function startFollower<Row extends { seq: number }>(
  deps: Deps,
  options: FollowerOptions<Row>,
): Follower {
  const { store, log } = deps
  const batchSize = options.batch ?? DEFAULT_BATCH
  const { lingerMs = 0, restTimes = () => 0, clock = () => performance.now() } = options
  const first = Math.min(batchSize, MAX_FIRST_BATCH)
  const pace = createBatchPace({ first, max: batchSize, batchMs: BATCH_MS, clock })
  let waiting: PromiseWithResolvers<void>[] = []
  /** Ends the pause that is under way. A promise for all pauses would keep something of each. */
  let endPause: (() => void) | undefined
  /** The same, if the pause is one that ends when somebody waits for the rows. */
  let hurry: (() => void) | undefined
  let isStopping = false
  let isWoken = false
  let running: Promise<void> | undefined
  let seq: number | undefined
  /** Rows that are still handled one by one, because their batch failed. */
  let suspects = 0
  /** The most rows that the last transaction could handle. */
  let limit = batchSize
  let failures = 0
  /** How long the last batch took, if it was full. */
  let fullMs = 0

  function wake(): void {
    isWoken = true
    if (running !== undefined || isStopping) return
    running = follow().finally(() => {
      running = undefined
      if (isWoken) wake()
    })
  }

  async function follow(): Promise<void> {
    while (isWoken && !isStopping) {
      if (lingerMs > 0) await pauseUnlessAwaited(lingerMs)
      isWoken = false
      const asking = waiting
      try {
        seq ??= await loadCursor(deps, options)
        while (!isStopping && (await isBehind(deps, options.rows, seq))) await advance(seq)
        if (isStopping) return
        failures = 0
        waiting = waiting.filter((each) => !asking.includes(each))
        for (const { resolve } of asking) resolve()
      } catch (error) {
        await recover(error)
      }
    }
  }

  async function advance(from: number): Promise<void> {
    const restMs = fullMs === 0 ? 0 : Math.min(MAX_REST_MS, restTimes() * fullMs)
    const isFar = restMs > 0
    if (isFar) await pauseUnlessAwaited(restMs)
    if (isStopping) return
    limit = suspects > 0 ? 1 : pace.size()
    const act = (tx: Tx) => handleBatch(deps, tx, { ...options, limit, clock })
    const done = await store.write(act, isFar ? { heavyFor: options.name } : {})
    // A heavy write is alone in its transaction, so the commit is its own, too.
    const tookMs = isFar ? clock() - done.startedAt : done.tookMs
    seq = done.seq
    // A slow disk takes long for the smallest commit: smaller batches would not help.
    if (done.rows > 0) pace.record(done.rows, Math.min(tookMs, 2 * done.tookMs))
    fullMs = suspects === 0 && done.rows === limit ? tookMs : 0
    if (seq === from) return
    failures = 0
    suspects = Math.max(0, suspects - 1)
  }

  async function pauseUnlessAwaited(ms: number): Promise<void> {
    if (waiting.length > 0 || isStopping) return
    const ended = pause(ms)
    hurry = endPause
    await ended
    hurry = undefined
  }

  function pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    endPause = () => {
      clearTimeout(timer)
      resolve()
    }
    return promise
  }

  async function recover(error: unknown): Promise<void> {
    // After a failed batch, its events come one by one; a read that fails again has nothing to try alone.
    const isAlone = suspects > 0 || limit === 1
    const facts = { error: describeError(error), follower: options.name, afterSeq: seq, isAlone }
    log.error(facts, 'a follower failed to handle events and will try again')
    isWoken = true
    suspects = Math.max(suspects, limit)
    if (!isAlone || isStopping) return
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
    failures += 1
    await pause(pauseMs)
  }

  const unwatch = [store.onCommit(wake), store.onExternalChange(wake)]
  wake()
  return {
    caughtUp() {
      if (isStopping) return Promise.reject(stopped())
      const caller = Promise.withResolvers<void>()
      waiting = [...waiting, caller]
      hurry?.()
      wake()
      return caller.promise
    },
    async stop() {
      isStopping = true
      for (const end of unwatch) end()
      endPause?.()
      await running
      for (const { reject } of waiting.splice(0)) reject(stopped())
    },
  }
}

/**
 * Returns the cursor. A new follower that starts with the newest event saves its cursor at once.
 */
async function loadCursor<Row extends { seq: number }>(
  { store, now }: Deps,
  { rows, name, beginsAt = 'oldest' }: FollowerOptions<Row>,
): Promise<number> {
  const known = await store.read.find(findCursor, { name })
  if (known !== undefined || beginsAt === 'oldest') return known?.seq ?? 0
  return store.write(async (tx) => {
    const seq = (await tx.find(rows.newest))?.seq ?? 0
    await tx.execute(saveCursor, { name, seq, at: now() })
    return seq
  })
}

/** Also if the newest rows were deleted: an engine may give their numbers to new rows. */
async function isBehind(
  { store }: Deps,
  { newest }: Pick<FollowedRows<unknown>, 'newest'>,
  seq: number,
): Promise<boolean> {
  const found = await store.read.find(newest)
  return (found?.seq ?? 0) !== seq
}

type Batch = {
  /** The new cursor. */
  seq: number
  rows: number
  startedAt: number
  /** The time from the first query to the last. */
  tookMs: number
}

/** Handles the next rows. */
async function handleBatch<Row extends { seq: number }>(
  { now }: Deps,
  tx: Tx,
  {
    rows,
    name,
    limit,
    clock,
    handle,
  }: FollowerOptions<Row> & { limit: number; clock: () => number },
): Promise<Batch> {
  const startedAt = clock()
  const from = (await tx.find(findCursor, { name }))?.seq ?? 0
  const batch = await tx.list(rows.listAfter, { seq: from, limit })
  let seq = batch.at(-1)?.seq ?? (await tx.find(rows.newest))?.seq ?? 0
  if (seq === from) return { seq, rows: 0, startedAt, tookMs: 0 }
  const endAt = (row: Row) => {
    seq = row.seq
  }
  if (batch.length > 0) await handle(tx, batch, endAt)
  await tx.execute(saveCursor, { name, seq, at: now() })
  return { seq, rows: batch.length, startedAt, tookMs: clock() - startedAt }
}

function stopped(): Error {
  return new Error('The follower was stopped.')
}
