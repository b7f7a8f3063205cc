/**
 * Bulk changes that are too long for one transaction: a sweep changes batch after batch, each in a
 * transaction of its own, and rests between two, so that other writes wait only for one batch.
 *
 *   sweep       a statement with a limit finds and changes the rows
 *   sweepRows   the rows of a batch are found outside of the transaction, by a reader or a scan
 *   sweepPages  rows come in pages, which are cut into batches
 *
 * The writes of a batch and the state that counts it are one transaction. A sweep of a job saves the
 * state with it (`jobs/progress.ts`), so that the next run goes on behind the last batch. As for each
 * closure of `store.write`, `change` has no effect except through its transaction and its result.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Now } from '../base/clock.ts'
import type { Store } from '../store/store.ts'
import type { Tx } from '../store/write/transaction.ts'
import type { JobCount } from './jobs/job-row.ts'
import { saveProgress } from './jobs/progress.ts'
import type { RunningJob } from './jobs/run.ts'
import { type AdaptiveSize, createBatchPace, withRest } from './pace.ts'

/**
 * The rest of a sweep. `times`: after each batch, this many times as long as the batch took, at most a
 * second. The others between two batches: `ms` milliseconds, one turn of the event loop, or no rest.
 */
type SweepRest = { times: number } | { ms: number } | 'event loop' | 'none'

/** How many rows a batch has: always `rows`, or as many as fit into its time. */
export type SweepPace = ({ rows: number } | AdaptiveSize) & { rest: SweepRest }

type Deps = { store: Pick<Store, 'write'> }

export type SweepRules = {
  pace: SweepPace
  /** Whose heavy writes the batches are (`WriteOptions`); undefined for light ones. */
  heavyFor: string | undefined
  /** Ends the sweep before its next batch. */
  signal?: AbortSignal | undefined
  /**
   * Ends the sweep as `signal` does, but the sweep throws the reason: another run of the job does the rest.
   */
  job?: Pick<RunningJob, 'signal'> | undefined
  /** The time after which no batch begins. */
  forMs?: number
}

/**
 * When the sweep ends: `short` after a batch that changed less than its limit, `none` after a batch that
 * changed nothing; a function is asked before each batch.
 */
type SweepUntil = 'short' | 'none' | (() => Promise<boolean>)

/**
 * Repeats `change`, which changes up to `limit` rows and returns their number; `done` is the number of rows
 * changed before. Returns the number of all changed rows.
 * @throws the reason of the job's signal
 */
export async function sweep(
  { store }: Deps,
  { until, ...rules }: SweepRules & { until: SweepUntil },
  change: (tx: Tx, limit: number, done: number) => Promise<number>,
): Promise<number> {
  const batches = createBatches(store, rules)
  let done = 0
  for (;;) {
    const limit = await batches.begin()
    if (limit === undefined) return done
    if (typeof until === 'function' && (await until())) return done
    const before = done
    const count = await batches.write(limit, (tx) => change(tx, limit, before))
    done += count
    if (until === 'short' ? count < limit : until === 'none' && count === 0) return done
  }
}

/**
 * The job that saves the state of a sweep. `percentOf`: how far a state is, in percent; `countOf`: in rows.
 */
export type JobProgress<State> = {
  job: RunningJob
  now: Now
  percentOf(state: State): number
  countOf?(state: State): JobCount
}

type RowChange<Row, State> = {
  /** The state before the first batch. */
  from: State
  /** Changes the rows, and returns the state after them. */
  change(tx: Tx, rows: readonly Row[], state: State): Promise<State>
  /** Runs before the transaction of each batch. */
  prepare?(rows: readonly Row[]): Promise<void>
  /** `progress.job` is the same job as `SweepRules.job`. */
  progress?: JobProgress<State> | undefined
}

type FoundRows<Row, State> = RowChange<Row, State> & {
  /** Finds up to `limit` rows behind the state; an empty result ends the sweep. */
  find(limit: number, state: State): Promise<readonly Row[]>
}

/** Finds and changes rows until none is found. Returns the last state. @throws as `sweep` */
export async function sweepRows<Row, State>(
  deps: Deps,
  rules: SweepRules,
  { find, ...work }: FoundRows<Row, State>,
): Promise<State> {
  const batches = createBatches(deps.store, { job: work.progress?.job, ...rules })
  let state = work.from
  for (;;) {
    const limit = await batches.begin()
    if (limit === undefined) return state
    const rows = await find(limit, state)
    if (rows.length === 0) return state
    state = await changeRows(batches, { ...work, rows, state })
  }
}

type Paging<Row, State> = RowChange<Row, State> & {
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>
  /** Whether the sweep ends with this state; at the last page if absent. */
  isOver?(state: State): boolean
}

/** Changes the rows of all pages. Returns the last state. @throws as `sweep` */
export async function sweepPages<Row, State>(
  deps: Deps,
  rules: SweepRules,
  { pages, isOver, ...work }: Paging<Row, State>,
): Promise<State> {
  const batches = createBatches(deps.store, { job: work.progress?.job, ...rules })
  let state = work.from
  for await (const page of pages) {
    for (let begun = 0; begun < page.length; ) {
      const limit = await batches.begin()
      if (limit === undefined) return state
      const rows = page.slice(begun, begun + limit)
      begun += rows.length
      state = await changeRows(batches, { ...work, rows, state })
      if (isOver?.(state)) return state
    }
    if (batches.isStopped()) return state
  }
  return state
}

type Batches = ReturnType<typeof createBatches>
type RowBatch<Row, State> = RowChange<Row, State> & { rows: readonly Row[]; state: State }

function changeRows<Row, State>(
  batches: Batches,
  { change, prepare, progress, rows, state }: RowBatch<Row, State>,
): Promise<State> {
  const write = async (tx: Tx) => {
    const next = await change(tx, rows, state)
    if (progress !== undefined) {
      const percent = progress.percentOf(next)
      const count = progress.countOf?.(next)
      await saveProgress(tx, progress.job, { state: next, percent, count, at: progress.now() })
    }
    return next
  }
  const prepared = prepare && (() => prepare(rows))
  return batches.write(rows.length, write, prepared)
}

/** The batches of one sweep: their size, and the rest between them. */
function createBatches(
  store: Pick<Store, 'write'>,
  { pace, heavyFor, signal, job, forMs = Number.POSITIVE_INFINITY }: SweepRules,
) {
  const size = 'rows' in pace ? undefined : createBatchPace(pace)
  const fixed = 'rows' in pace ? pace.rows : 0
  const { rest } = pace
  const stopping = signal ?? job?.signal
  const endAt = performance.now() + forMs
  let isFirst = true

  /** @throws the reason of the job's signal */
  function isStopped(): boolean {
    job?.signal.throwIfAborted()
    return signal?.aborted === true || performance.now() >= endAt
  }

  /** The number of rows of the next batch; undefined when the sweep is to end. */
  async function begin(): Promise<number | undefined> {
    if (!isFirst) await restBetween(rest, stopping)
    isFirst = false
    return isStopped() ? undefined : (size?.size() ?? fixed)
  }

  /** `prepare` runs before the transaction; its time counts for the rest that follows. */
  async function write<T>(
    rows: number,
    act: (tx: Tx) => Promise<T>,
    prepare?: () => Promise<void>,
  ): Promise<T> {
    const measured = size === undefined ? act : (tx: Tx) => size.measure(rows, () => act(tx))
    const run = async () => {
      await prepare?.()
      return store.write(measured, { heavyFor })
    }
    if (typeof rest !== 'object' || !('times' in rest)) return run()
    return withRest(run, { times: rest.times, signal: stopping })
  }

  return { begin, write, isStopped }
}

async function restBetween(rest: SweepRest, signal: AbortSignal | undefined): Promise<void> {
  if (rest === 'event loop') await setImmediate()
  else if (typeof rest === 'object' && 'ms' in rest) {
    await sleep(rest.ms, undefined, { signal }).catch(() => undefined)
  }
}
