/** The jobs that erase a project. A project has one of them at a time. */
import type { Tx } from '../../../store/write/transaction.ts'
import { enqueueJob } from '../../../work/jobs/enqueue.ts'
import type { Base } from '../../ground/base.ts'

export const RESET_KIND = 'reset-project'
export const DELETION_KIND = 'delete-project'

export type ErasurePayload = { projectId: string }

type ErasureJob = { kind: typeof RESET_KIND | typeof DELETION_KIND; projectId: string }

/**
 * Enqueues the job, unless it waits or runs already. A deletion names its project only in the
 * payload of its job: all jobs that belong to the project are deleted with its rows.
 */
export async function enqueueErasure(
  { now, jobNotifier }: Pick<Base, 'now' | 'jobNotifier'>,
  tx: Tx,
  { kind, projectId }: ErasureJob,
): Promise<void> {
  const payload: ErasurePayload = { projectId }
  await enqueueJob(tx, {
    ...{ kind, payload, now: now(), uniqueKey: `${kind} ${projectId}` },
    ...(kind === RESET_KIND && { projectId }),
  })
  tx.afterCommit(() => jobNotifier.notify())
}
