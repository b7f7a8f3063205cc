/**
 * A reader of a follower: it reads rows once for all its handlers. A follower has a common one, and one for each
 * handler that is behind or fails.
 *
 *   idle       the reader reads nothing until rows are added; the store knows without a query
 *   linger     a reader may wait a moment after a commit, so that it handles many commits at once, and
 *              with others, or with what is written anyway, in one transaction
 *   behind     one transaction for each batch. The number of rows in a batch adapts to the time that it takes.
 *              After a batch that was not full the reader lingers again
 *   far behind batches are full: a reader may rest between them, so that other writes stay fast
 *   failed     a handler that fails among others leaves, and the batch runs again without it. Of a handler
 *              alone, or when the batch failed otherwise, the rows are handled one by one: rows before the
 *              failing one succeed, and the log names the failing one. It is tried again after one second,
 *              then after twice as long each time, at most a minute
 */
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts'
import { describeError, hasCode } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Store } from '../store/store.ts'
import type { Tx } from '../store/write/transaction.ts'
import {
  type Cursors,
  createPlaces,
  type FollowedRow,
  type FollowedRows,
  type HandlerPlace,
  handleBatch,
  loadPlaces,
  savePlaces,
} from './follower-handlers.ts'
import { createEffort, createPauses, lingerFor, patienceFor } from './pace.ts'

type ReaderOptions<Row> = {
  /** The owner of the reader's heavy writes. */
  name: string
  rows: FollowedRows<Row>
  cursors: Cursors
  /** The first handlers, one at least. */
  places: readonly HandlerPlace<Row>[]
  /** The first rows to handle one by one; 0 if absent. */
  suspects?: number
  batch?: number
  lingerMs?: number
  clock?: () => number
  /**
   * Called before a batch: the reader may take in other handlers that have handled all rows up to `least`.
   */
  gather?(least: number): void
  /**
   * Called when a handler leaves: it has failed in a batch of `suspects` rows, or is behind the others (0).
   */
  leave?(place: HandlerPlace<Row>, suspects: number): void
}

export type FollowerReader<Row> = {
  wake(): void
  /** Resolves when the handlers of this reader have handled all rows: see `Follower.caughtUp`. */
  caughtUp(): Promise<void>
  /** Takes a handler back. Call it only in `gather`. */
  take(place: HandlerPlace<Row>): void
  /**
   * Ends the reader of one handler and returns its place, if the handler has handled all rows up to
   * `least`, nothing has failed and nothing is being read or written.
   */
  release(least: number): HandlerPlace<Row> | undefined
  stop(): Promise<void>
}

/** How long a cursor may wait to be saved. */
const SAVE_AFTER_MS = SECOND_MS
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = MINUTE_MS

export function createRowReader<Row extends FollowedRow>(
  { store, log }: { store: Store; log: Log },
  options: ReaderOptions<Row>,
): FollowerReader<Row> {
  const { name, rows, cursors, gather, batch, suspects } = options
  const { lingerMs = 0, clock = () => performance.now() } = options
  const effort = createEffort({ batch, suspects, clock })
  const pauses = createPauses()
  const places = createPlaces({ store, rows, places: options.places, leave: options.leave })
  let waiting: PromiseWithResolvers<void>[] = []
  let isStopping = false
  let running: Promise<void> | undefined
  /** Whether something is being read or written. */
  let isBusy = false
  /** The timer that saves the cursors which are not saved yet. */
  let saving: NodeJS.Timeout | undefined
  let isSaveDue = false
  /** Whether stored cursors may be ahead: a write failed, and nobody knows whether it is durable. */
  let isUnsure = true
  /** The handler whose turn it is, or the handler that failed in its turn. */
  let acting: HandlerPlace<Row> | undefined
  let failures = 0
  let last = { rows: 0, endedAt: Number.NEGATIVE_INFINITY, isAll: false }

  const hasWork = () => places.isBehind() || isUnsure || isSaveDue || waiting.length > 0

  function wake(): void {
    if (running !== undefined || isStopping || !hasWork()) return
    running = follow().finally(() => {
      running = undefined
      wake()
    })
  }

  async function follow(): Promise<void> {
    while (!isStopping && hasWork()) {
      if (places.isBehind() && lingerMs > 0) {
        await pauseUnlessAwaited(lingerFor({ lingerMs, at: clock(), ...last }))
      }
      if (isStopping) return
      const asking = waiting
      isBusy = true
      try {
        if (isUnsure) {
          await loadPlaces({ store, rows, cursors }, places.all())
          isUnsure = false
        }
        await catchUp()
        if (isStopping) return
        if (isSaveDue || (saving !== undefined && asking.length > 0)) await save()
        failures = 0
        if (!places.isBehind()) effort.caughtUp()
        waiting = waiting.filter((each) => !asking.includes(each))
        for (const { resolve } of asking) resolve()
      } catch (error) {
        await recover(error)
      } finally {
        isBusy = false
      }
    }
  }

  async function catchUp(): Promise<void> {
    while (!isStopping && places.isBehind()) {
      await advance()
      if (last.isAll && waiting.length === 0) return
    }
  }

  async function advance(): Promise<void> {
    const mayPass = !effort.isSuspicious()
    if (mayPass) gather?.(places.head())
    const { readers, passed } = await places.next(mayPass)
    if (readers.length === 0) {
      last = { rows: passed, endedAt: clock(), isAll: true }
      effort.idle()
      keepSaving()
      return
    }
    const restMs = effort.restMs(restTimesOf(readers))
    const isFar = restMs > 0
    if (isFar) {
      isBusy = false
      await pauseUnlessAwaited(restMs)
      isBusy = true
    }
    if (!isStopping) await handle(readers, isFar)
  }

  async function handle(readers: readonly HandlerPlace<Row>[], isFar: boolean): Promise<void> {
    const from = Math.min(...readers.map(({ seq }) => seq))
    const range = { readers, unsaved: places.unsaved(), from, limit: effort.size() }
    const onTurn = (place?: HandlerPlace<Row>) => {
      acting = place
    }
    const act = (tx: Tx) => handleBatch(tx, { rows, cursors, clock, ...range, onTurn })
    const done = await store.write(act, isFar ? { heavyFor: name } : patience())
    const endedAt = clock()
    const hasMoved = places.moved(done)
    keepSaving()
    effort.ended(done, { endedAt, isHeavy: isFar })
    last = { rows: done.rows, endedAt, isAll: done.isAll }
    if (!hasMoved) return
    failures = 0
    effort.advanced()
  }

  async function save(): Promise<void> {
    const unsaved = new Map(places.unsaved().map((place) => [place, place.seq]))
    await store.write((tx) => savePlaces(cursors, tx, unsaved), patience())
    for (const place of unsaved.keys()) place.isSaved = true
    keepSaving()
  }

  function patience(): { patienceMs: number } {
    const isHurried = waiting.length > 0 || isStopping || !last.isAll
    return { patienceMs: isHurried ? 0 : patienceFor({ lingerMs, rows: last.rows }) }
  }

  /** Keeps the timer while a cursor is to be saved. */
  function keepSaving(): void {
    if (places.unsaved().length > 0) {
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
    // A failure of the whole transaction is no fault of the handler whose turn it is.
    const failed = hasCode(error, 'DATABASE_ERROR') ? undefined : acting
    acting = undefined
    // After a failure, rows come one by one; a failure of one row or of a read alone is followed by a pause.
    const isAlone = effort.isAlone()
    const { follower, afterSeq } =
      failed === undefined
        ? { follower: name, afterSeq: places.lowest() }
        : { follower: failed.handler.name, afterSeq: failed.seq }
    const facts = { error: describeError(error), follower, afterSeq, isAlone }
    log.error(facts, 'a follower failed to handle events and will try again')
    if (failed !== undefined && places.letGo(failed, effort.doubtful())) return
    isUnsure = true
    effort.failed()
    if (!isAlone || isStopping) return
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
    failures += 1
    await pauses.pause(pauseMs, false)
  }

  keepSaving()
  return {
    wake,
    caughtUp() {
      if (isStopping) return Promise.reject(stopped())
      const caller = Promise.withResolvers<void>()
      waiting = [...waiting, caller]
      pauses.hurry()
      wake()
      return caller.promise
    },
    take: places.add,
    release(least) {
      const [place] = places.all()
      const isWell = !isBusy && !isUnsure && !effort.isSuspicious()
      if (place === undefined || !isWell || place.seq < least) return undefined
      isStopping = true
      pauses.end()
      clearTimeout(saving)
      for (const { resolve } of waiting.splice(0)) resolve()
      return place
    },
    async stop() {
      isStopping = true
      pauses.end()
      await running
      // Rows behind an unsaved cursor come again at the next start. After a failed write, a newer cursor
      // may be stored.
      if (places.unsaved().length > 0 && !isUnsure) await save().catch(() => undefined)
      clearTimeout(saving)
      for (const { reject } of waiting.splice(0)) reject(stopped())
    },
  }
}

function restTimesOf<Row>(places: readonly HandlerPlace<Row>[]): number {
  return Math.max(...places.map(({ handler }) => handler.restTimes?.() ?? 0))
}

function stopped(): Error {
  return new Error('The follower was stopped.')
}
