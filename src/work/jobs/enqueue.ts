import { newId } from '../../store/ids.ts'
import { jobs } from '../../store/schema/jobs.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'

export type NewJob = {
  /** The id of the job; a UUID if absent. */
  id?: string
  /** The name of the handler. */
  kind: string
  /** Anything that JSON can carry. */
  payload: unknown
  now: number
  projectId?: string
  /** The user who asked for the job; null or absent for all others. */
  userId?: string | null | undefined
  /** The job does not run before this instant; at once if absent. */
  runAt?: number
  /** While a job with this key waits or runs, no second one is enqueued. */
  uniqueKey?: string
  /** Smaller numbers go first; 0 if absent. */
  priority?: number
  /** The most attempts; 10 if absent. */
  maxAttempts?: number
}

const DEFAULT_MAX_ATTEMPTS = 10

const insertJob = statement((db) =>
  db
    .insert(jobs)
    .values({
      id: parameter('id'),
      kind: parameter('kind'),
      projectId: parameter('projectId'),
      userId: parameter('userId'),
      payload: parameter('payload'),
      state: 'waiting',
      priority: parameter('priority'),
      runAt: parameter('runAt'),
      maxAttempts: parameter('maxAttempts'),
      uniqueKey: parameter('uniqueKey'),
      createdAt: parameter('now'),
      updatedAt: parameter('now'),
    })
    .onConflictDoNothing()
    .returning({ id: jobs.id }),
)

/**
 * Enqueues a job in the caller's transaction, so that the job exists if and only if the transaction
 * commits. Enqueues nothing while a job has the same unique key.
 */
export async function enqueueJob(
  tx: Tx,
  job: NewJob,
): Promise<{ id: string; isNew: true } | { isNew: false }> {
  const row = await tx.find(insertJob, {
    id: job.id ?? newId(),
    kind: job.kind,
    projectId: job.projectId ?? null,
    userId: job.userId ?? null,
    payload: job.payload,
    priority: job.priority ?? 0,
    runAt: job.runAt ?? job.now,
    maxAttempts: job.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    uniqueKey: job.uniqueKey ?? null,
    now: job.now,
  })
  return row ? { id: row.id, isNew: true } : { isNew: false }
}
