/**
 * Cancels jobs. A job that waits ends at once. A running job stops after its step: what it has done stays,
 * and the state that it saved last gives its result.
 */
import { and, eq } from '../../store/drizzle.ts'
import { type Job, jobProgress, jobs } from '../../store/schema/jobs.ts'
import type { Tx } from '../../store/write/transaction.ts'
import { deleteSurplusJobs } from './job-row.ts'
import type { CancelledEnd } from './run.ts'

type Cancellation = { end: CancelledEnd; now: number }

/**
 * `cancelled`: the job waited, and has ended. `stopping`: it runs; `Jobs.cancel` stops it once the
 * transaction is durable. `ended`: nothing was changed.
 */
export async function cancelJob(
  tx: Tx,
  job: Pick<Job, 'id' | 'projectId' | 'kind' | 'payload' | 'state' | 'cancelledAt'>,
  { end, now }: Cancellation,
): Promise<'cancelled' | 'stopping' | 'ended'> {
  const { id, state, payload } = job
  if (state === 'active') {
    const cancelledAt = job.cancelledAt ?? now
    await tx.update(jobs).set({ cancelledAt }).where(eq(jobs.id, id))
    return 'stopping'
  }
  if (state !== 'waiting') return 'ended'
  const saved = await tx.select().from(jobProgress).where(eq(jobProgress.jobId, id)).get()
  const result = end.partialResult(saved?.state, payload)
  const times = { cancelledAt: now, completedAt: now, updatedAt: now }
  await tx
    .update(jobs)
    .set({ state: 'cancelled', result, error: null, ...times })
    .where(and(eq(jobs.id, id), eq(jobs.state, 'waiting')))
  await tx.delete(jobProgress).where(eq(jobProgress.jobId, id))
  await end.discard?.(tx, payload)
  await deleteSurplusJobs(tx, job, ['cancelled'])
  return 'cancelled'
}
