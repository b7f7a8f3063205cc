/** Erases the rows of a project in short transactions between which requests run. */
import type { Tx } from '../../../store/write/transaction.ts'
import { loadProgress, saveProgress } from '../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import { type Pace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import type { PartValues, TablePart } from '../../ground/manifest/part.ts'

export type EraserDeps = Pick<Base, 'store' | 'now' | 'log'>

/** Erases up to `limit` rows and returns their number; 0 when none is left. */
type EraseBatch = (tx: Tx, limit: number) => Promise<number>

export type Eraser = {
  values: PartValues
  /** The job's signal. */
  signal: AbortSignal
  /** Counts the rows that are to go, for the percentage, unless an earlier run did. */
  count(parts: readonly TablePart[]): Promise<void>
  /** Runs batches until none is left. */
  repeat(batch: EraseBatch): Promise<void>
  /** A transaction of the job. Rolled back if the job has lost its lease. */
  write<T>(act: (tx: Tx) => Promise<T>): Promise<T>
}

/** `total`: the number of rows at the start. */
type Progress = { erased: number; total: number }

/** The first batch is small, because a single row may be large. */
const PACE: Pace = { first: 20, max: 2_000, batchMs: 8, rest: { times: 2 } }

export async function createEraser(
  { store, now }: EraserDeps,
  job: RunningJob,
  values: PartValues,
): Promise<Eraser> {
  let progress = await loadProgress<Progress>(store.read, job.id)
  const heavyFor = values.projectId

  /** Saves the progress in the transaction. `rows`: those that were erased since it was saved. */
  async function save(tx: Tx, rows: number): Promise<void> {
    const { erased, total } = progress ?? { erased: 0, total: 0 }
    const state = { erased: erased + rows, total }
    const percent = total === 0 ? 0 : Math.min(99, (100 * state.erased) / total)
    await saveProgress(tx, job, { state, percent, at: now() })
  }

  async function count(parts: readonly TablePart[]): Promise<void> {
    if (progress !== undefined) return
    let total = 0
    for (const part of parts) total += (await store.scan.find(part.count, values))?.rows ?? 0
    progress = { erased: 0, total }
  }

  async function repeat(batch: EraseBatch): Promise<void> {
    const rules = { pace: PACE, heavyFor, job, until: 'none' as const }
    const erased = await sweep({ store }, rules, async (tx, limit, done) => {
      const count = await batch(tx, limit)
      await save(tx, done + count)
      return count
    })
    progress = { erased: (progress?.erased ?? 0) + erased, total: progress?.total ?? 0 }
  }

  async function write<T>(act: (tx: Tx) => Promise<T>): Promise<T> {
    job.signal.throwIfAborted()
    return store.write(
      async (tx) => {
        await save(tx, 0)
        return act(tx)
      },
      { heavyFor },
    )
  }

  return { values, signal: job.signal, count, repeat, write }
}
