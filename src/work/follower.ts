/**
 * A follower reads the rows of a table to which rows are only added, each row once, and passes them to its
 * handlers in their order. Each handler has a cursor of its own (`seq`), and gets each row once, in the order of
 * the numbers.
 *
 *   together    all handlers that are as far as each other have one reader (`follower-reader.ts`): one
 *               transaction for each batch, with the rows, what the handlers write, and their cursors
 *   behind      a handler with an older cursor, after a crash or an upgrade or as a new one, or that took fewer
 *               rows of a full batch than others, has a reader of its own until it meets the common one, which
 *               takes it in before a batch
 *   failed      the transaction is rolled back, and runs again without the handler that failed, which has a
 *               reader of its own until all is well. It stops no other handler
 *   indifferent a handler for which no row may matter (`mayMatter`) passes over all that are committed, and one
 *              with `names` gets only the rows with these names
 *
 * Cursors are saved in the transaction of the handlers' writes, so a crash or an error keeps both or neither. A
 * batch in which nobody writes saves no cursor: that waits for a batch with writes, or for a second. So after a
 * crash rows of the last second may come again, as if the follower had been late; what their handlers did then
 * was to write nothing.
 *
 * No row is skipped: a row that fails blocks the later ones for its handler, and each failure is logged. A handler
 * that can fail for a single row, or does more than write to the database, enqueues a job for each.
 */
import type { Log } from '../base/log.ts'
import type { Store } from '../store/store.ts'
import type { Cursors, FollowedRow, FollowedRows, FollowerHandler } from './follower-handlers.ts'
import { createRowReader, type FollowerReader } from './follower-reader.ts'

export type FollowerOptions<Row extends FollowedRow> = {
  /** The owner of the common reader's heavy writes. */
  name: string
  rows: FollowedRows<Row>
  cursors: Cursors
  /** The handlers, in the order in which they get the rows of a batch. */
  handlers: readonly FollowerHandler<Row>[]
  /** The maximum number of rows in a transaction; 100 if absent. */
  batch?: number
  /**
   * How long a reader waits after a commit before it reads; 0 if absent. If the time is `BEAT_MS`
   * (`pace.ts`) or more, the wait ends at the last multiple of `BEAT_MS` within that time. A reader with
   * much to do waits at least for the next multiple.
   */
  lingerMs?: number
  /** A clock in ms, for tests. */
  clock?: () => number
}

export type Follower = {
  /**
   * For tests; the program waits for no follower. Resolves when all handlers have handled all rows committed
   * before the call, and the cursors are saved; rejects after `stop`.
   */
  caughtUp(): Promise<void>
  /** Finishes the current batches. */
  stop(): Promise<void>
}

type FollowerDeps = { store: Store; log: Log }

export function startFollower<Row extends FollowedRow>(
  deps: FollowerDeps,
  { handlers, ...options }: FollowerOptions<Row>,
): Follower {
  const { store } = deps
  let isStopping = false
  /** How often a handler changed to another reader. */
  let moves = 0
  const places = handlers.map((handler) => ({ handler, seq: -1, isSaved: true }))
  /** The readers of handlers that are behind, or have failed. */
  let own: FollowerReader<Row>[] = []

  const common: FollowerReader<Row> = createRowReader(deps, {
    ...options,
    places,
    gather(least) {
      own = own.filter((reader) => {
        const place = isStopping ? undefined : reader.release(least)
        if (place === undefined) return true
        common.take(place)
        moves += 1
        return false
      })
    },
    leave(place, suspects) {
      moves += 1
      const { name } = place.handler
      const reader = createRowReader(deps, { ...options, name, places: [place], suspects })
      own.push(reader)
      if (isStopping) void reader.stop()
      else reader.wake()
    },
  })

  function wake(): void {
    // The common reader is woken first, so that it can take in the handlers of other readers before they read.
    common.wake()
    for (const reader of own) reader.wake()
  }

  const unwatch = [store.onCommit(wake), store.onExternalChange(wake)]
  wake()
  return {
    async caughtUp() {
      let before: number
      do {
        before = moves
        await Promise.all([common, ...own].map((reader) => reader.caughtUp()))
      } while (before !== moves)
    },
    async stop() {
      isStopping = true
      for (const end of unwatch) end()
      await common.stop()
      await Promise.all(own.map((reader) => reader.stop()))
    },
  }
}
