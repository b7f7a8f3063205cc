/**
 * Saves the progress of long work. A batch and the state that counts it share one transaction, so
 * that a later run continues after the last batch that was committed:
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
 * Saving checks the job's lease: a run that has lost it cannot commit another batch, so no batch is
 * applied twice. A job that is cancelled still commits its batch: its next `throwIfAborted` ends it.
 */
import { eq } from '../../store/drizzle.ts'
import { jobProgress } from '../../store/schema/jobs.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Reader } from '../../store/store.ts'
import type { Tx } from '../../store/write/transaction.ts'
import { isCancelled } from './cancelled.ts'
import { type JobAdvance, lostLeaseError, recordAdvance } from './job-row.ts'
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

/**
 * Returns the state that was saved last, if any. `State` is the type that the kind of job saves.
 */
export async function loadProgress<State>(
  reader: Pick<Reader, 'find'>,
  jobId: string,
): Promise<State | undefined> {
  const row = await reader.find(selectState, { jobId })
  return row?.state as State | undefined
}

/**
 * Saves the state, and the percentage and the count that the job's status shows (unchanged if absent). A
 * job that advances in each run does not run out of attempts, even if the process crashes often.
 * @throws Error when this run was aborted or has lost its lease, to roll the batch back
 */
export async function saveProgress(
  tx: Tx,
  job: Pick<RunningJob, 'id' | 'leaseId' | 'signal'>,
  { state, at, ...advance }: JobAdvance & { state: unknown; at: number },
): Promise<void> {
  if (!isCancelled(job)) job.signal.throwIfAborted()
  const isLeased = await recordAdvance(tx, job, advance)
  if (!isLeased) throw lostLeaseError()
  await tx.execute(upsertState, { jobId: job.id, state, at })
}
