/**
 * Limits the speed of long work, so that requests stay fast: batches of sweeps, and of the readers of followers. A
 * request waits behind at most one batch; the number of rows in a batch adapts so that each holds the writer for about
 * the same time. A rest follows the batch, so that the disk keeps up: otherwise the write-ahead log would grow until
 * writers have to wait.
 */

type BatchPace = {
  /** The number of rows for the next batch. */
  size(): number
  /**
   * Runs the transaction of a batch and measures it. Call it inside the closure of `store.write`,
   * so that the wait for the writer does not count.
   */
  measure<T>(rows: number, work: () => Promise<T>): Promise<T>
  /** Does what `measure` does, for a caller who knows the number of rows only afterwards. */
  record(rows: number, tookMs: number): void
}

/**
 * `first`, `max`, `min`: rows of the first, the largest and the smallest batch. `batchMs`: how long a batch
 * should take.
 */
export type AdaptiveSize = { first: number; max: number; min?: number; batchMs: number }

type BatchPaceOptions = AdaptiveSize & { clock?(): number }

const MAX_REST_MS = 1000

type Rest = { times: number; signal?: AbortSignal | undefined; clock?: (() => number) | undefined }

/** The measures of a batch: its rows, when its first query began, and how long it took from there to the last (ms). */
type BatchTimes = { rows: number; startedAt: number; tookMs: number }

type EffortOptions = {
  /** The maximum number of rows in a batch; 100 if absent. */
  batch: number | undefined
  /** How many rows are handled one by one at first. */
  suspects: number | undefined
  clock: () => number
}

type Effort = {
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
  /** Call this when a row was handled or passed over. */
  advanced(): void
  /** Call this when there were no rows to read. */
  idle(): void
  /** Call this when all rows are handled, so that no row is in doubt. */
  caughtUp(): void
  /** The number of rows in doubt if the last batch has failed. */
  doubtful(): number
  /** Call this when the last batch failed: its rows are then handled one by one. */
  failed(): void
}

const DEFAULT_BATCH = 100

/** The first batch is at most this large, because nothing is known of its rows. */
const MAX_FIRST_BATCH = 500

/** How long a batch should hold the writer. */
const BATCH_MS = 12

/**
 * The pauses of a follower, one at a time. Each pause has its own promise: a promise that all pauses share
 * would keep memory of each.
 */
type Pauses = {
  /** Resolves after `ms`, or early by `end`; with `isHurried`, also by `hurry`. */
  pause(ms: number, isHurried: boolean): Promise<void>
  end(): void
  hurry(): void
}

/**
 * Followers that linger go on at multiples of this time, so that they share a transaction. A follower with
 * much to do lingers at least as long.
 */
const BEAT_MS = 50

/** A batch of this many rows or more counts as much to do. */
const MANY_ROWS = 8

/** The time that a write of a follower waits for others with which it can share a commit. */
const PATIENCE_MS = 30

/** `rows`, `endedAt`: of the last batch. */
type Lingering = { lingerMs: number; at: number; rows: number; endedAt: number }

export function createBatchPace({
  first,
  max,
  min = 1,
  batchMs,
  clock = () => performance.now(),
}: BatchPaceOptions): BatchPace {
  let size = first

  function record(rows: number, tookMs: number): void {
    const fitting = Math.floor((rows * batchMs) / Math.max(tookMs, 0.01))
    // The size at most doubles, because the rows of one batch may be unlike the others.
    size = Math.max(min, Math.min(max, size * 2, fitting))
  }

  return {
    size: () => size,
    record,
    async measure(rows, work) {
      const from = clock()
      const result = await work()
      record(rows, clock() - from)
      return result
    },
  }
}

/**
 * Runs a batch, then rests `times` times as long, at most a second. The rest ends when `signal`
 * aborts.
 */
export async function withRest<T>(
  act: () => Promise<T>,
  { times, signal, clock = () => performance.now() }: Rest,
): Promise<T> {
  const from = clock()
  const result = await act()
  await rest(Math.min(MAX_REST_MS, times * (clock() - from)), signal)
  return result
}

export function createEffort({ batch = DEFAULT_BATCH, clock, ...options }: EffortOptions): Effort {
  const first = Math.min(batch, MAX_FIRST_BATCH)
  const pace = createBatchPace({ first, max: batch, batchMs: BATCH_MS, clock })
  let suspects = options.suspects ?? 0
  /** The most rows that the last batch could have had. */
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
      const busyMs = isHeavy ? endedAt - startedAt : tookMs
      // A slow disk takes long for the smallest commit: smaller batches would not help.
      if (rows > 0) pace.record(rows, Math.min(busyMs, 2 * tookMs))
      fullMs = suspects === 0 && rows === limit ? busyMs : 0
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

export function createPauses(): Pauses {
  let end: (() => void) | undefined
  let isHurried = false

  return {
    async pause(ms, mayHurry) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      isHurried = mayHurry
      end = () => {
        clearTimeout(timer)
        resolve()
      }
      await promise
      end = undefined
    },
    end: () => end?.(),
    hurry() {
      if (isHurried) end?.()
    },
  }
}

/** How long the next batch may wait for the transaction of another write; `rows`: of the last batch. */
export function patienceFor({ lingerMs, rows }: Pick<Lingering, 'lingerMs' | 'rows'>): number {
  return lingerMs >= BEAT_MS || (lingerMs > 0 && rows >= MANY_ROWS) ? PATIENCE_MS : 0
}

/** How long a follower that finds new rows at `at` lingers (ms). */
export function lingerFor({ lingerMs, at, rows, endedAt }: Lingering): number {
  const isBusy = rows >= MANY_ROWS && at - endedAt < BEAT_MS
  const ms = isBusy ? Math.max(lingerMs, BEAT_MS) : lingerMs
  return ms < BEAT_MS ? ms : Math.ceil(ms - (at % BEAT_MS))
}

function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
