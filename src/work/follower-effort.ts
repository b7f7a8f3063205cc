/** How many rows the next batch of a reader may have, and how long the reader rests before it. */

import type { Batch } from './follower-batch.ts'
import { createBatchPace } from './pace.ts'

type BatchTimes = Pick<Batch<never>, 'rows' | 'startedAt' | 'tookMs'>

type EffortOptions = {
  /** The maximum number of rows in a batch; 100 if absent. */
  batch: number | undefined
  /** The first rows to handle one by one. */
  suspects: number | undefined
  clock: () => number
}

export type Effort = {
  /** The number of rows for the next batch. */
  size(): number
  /** Whether rows are handled one by one, because their batch failed. */
  isSuspicious(): boolean
  /** Whether the last batch could have one row only. */
  isAlone(): boolean
  /** How long to rest before the next batch (ms), `times` as long as the last batch took; 0 if it was not full. */
  restMs(times: number): number
  /** `isHeavy`: the batch had a transaction of its own. */
  ended(batch: BatchTimes, end: { endedAt: number; isHeavy: boolean }): void
  /** A row was handled, or passed over. */
  advanced(): void
  /** There were no rows to read. */
  idle(): void
  /** All rows are handled, so none is in doubt. */
  caughtUp(): void
  /** How many rows are in doubt if the last batch has failed. */
  doubtful(): number
  /** The last batch failed: its rows are handled one by one. */
  failed(): void
}

const DEFAULT_BATCH = 100
/** Nothing is known of its rows. */
const MAX_FIRST_BATCH = 500
/** How long a batch should hold the writer. */
const BATCH_MS = 12
/** The longest rest. */
const MAX_REST_MS = 1_000

export function createEffort({ batch = DEFAULT_BATCH, clock, ...options }: EffortOptions): Effort {
  const first = Math.min(batch, MAX_FIRST_BATCH)
  const pace = createBatchPace({ first, max: batch, batchMs: BATCH_MS, clock })
  let suspects = options.suspects ?? 0
  /** The most rows that the last batch could have. */
  let limit = batch
  /** How long the last batch took, if it was full. */
  let fullMs = 0

  return {
    size() {
      limit = suspects > 0 ? 1 : pace.size()
      return limit
    },
    isSuspicious: () => suspects > 0,
    isAlone: () => suspects > 0 || limit === 1,
    restMs: (times) => (fullMs === 0 ? 0 : Math.min(MAX_REST_MS, times * fullMs)),
    ended({ rows, startedAt, tookMs }, { endedAt, isHeavy }) {
      // A heavy write is alone in its transaction, so the commit is its own, too.
      const heldMs = isHeavy ? endedAt - startedAt : tookMs
      // A slow disk takes long for the smallest commit: smaller batches would not help.
      if (rows > 0) pace.record(rows, Math.min(heldMs, 2 * tookMs))
      fullMs = suspects === 0 && rows === limit ? heldMs : 0
    },
    advanced() {
      suspects = Math.max(0, suspects - 1)
    },
    idle() {
      fullMs = 0
    },
    caughtUp() {
      suspects = 0
    },
    doubtful: () => Math.max(suspects, limit),
    failed() {
      suspects = Math.max(suspects, limit)
    },
  }
}
