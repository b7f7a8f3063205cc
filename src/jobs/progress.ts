/**
 * How far long work has come. What a batch does and the state that counts it are one transaction,
 * so that a run which takes over goes on behind the last batch that was kept:
 *
 *   const state = await loadProgress<State>(deps.store.read, job.id) ?? { … }
 *   while (there is more) {
 *     job.signal.throwIfAborted()
 *     await store.write(async (tx) => {
 *       … the batch …
 *       await saveProgress(tx, job, { state: next, percent, at: now() })
 *     })
 *   }
 *
 * Saving asks for the job's lease: a run that has lost it cannot commit another batch, whatever it
 * has noticed, so no batch is applied by two runs.
 */
import { eq } from '../store/drizzle.ts'
import { jobProgress } from '../store/schema/jobs.ts'
import { parameter, statement } from '../store/statement.ts'
import type { Reader } from '../store/store.ts'
import type { Tx } from '../store/write/transaction.ts'
import { reportAdvance } from './ledger.ts'
import type { RunningJob } from './run.ts'

const selectState = statement((db) =>
  db
    .select({ state: jobProgress.state })
    .from(jobProgress)
    .where(eq(jobProgress.jobId, parameter('jobId'))),
)

const upsertState = statement((db) =>
  db
    .insert(jobProgress)
    .values({ jobId: parameter('jobId'), state: parameter('state'), updatedAt: parameter('at') })
    .onConflictDoUpdate({
      target: jobProgress.jobId,
      set: { state: parameter('state'), updatedAt: parameter('at') },
    }),
)

/** What was saved last; undefined when nothing was. `State` is what the kind of job saves. */
export async function loadProgress<State>(
  reader: Pick<Reader, 'find'>,
  jobId: string,
): Promise<State | undefined> {
  const row = await reader.find(selectState, { jobId })
  return row?.state as State | undefined
}

/**
 * Saves the state, and what the job's status shows (`percent` from 0 to 100; unchanged if absent).
 * However often the program dies, a job that gets further each time does not run out of tries.
 * @throws Error when this run was aborted or has lost its lease: the batch must not stay
 */
export async function saveProgress(
  tx: Tx,
  job: Pick<RunningJob, 'id' | 'leaseId' | 'signal'>,
  { state, percent, at }: { state: unknown; percent?: number; at: number },
): Promise<void> {
  job.signal.throwIfAborted()
  const isHeld = await reportAdvance(tx, job, percent)
  if (!isHeld) throw new Error('The lease of the job was lost.')
  await tx.execute(upsertState, { jobId: job.id, state, at })
}
