/** Verifying many addresses: asked for here, done by a job (list-run.ts). No contact changes by it. */
import { enqueueForProject } from '../../../jobs/enqueue-for-project.ts'
import { findJobStatus, type JobStatus } from '../../../jobs/status.ts'
import type { Base } from '../../base.ts'
import type { Condition } from '../../conditions/condition.ts'
import { type BulkSelection, checkSelection } from '../../contacts/bulk/start.ts'

/** Which addresses: those given, of the contacts named, or of those that match at the beginning. */
export type ListSelection<Given = Condition> =
  | { mode: 'emails'; emails: readonly string[] }
  | BulkSelection<Given>

/** The payload of the job, which its status shows. */
export type ListPayload = ListSelection & { projectId: string }

export const LIST_JOB_KIND = 'verify-list'

/** Tries of a job that fails, as when the database cannot be written. */
const MAX_ATTEMPTS = 5

type Deps = Pick<Base, 'store' | 'now' | 'jobNotifier'>

/**
 * The id of the job. A condition is given as it came.
 * @throws AppError VALIDATION_ERROR for a condition that is none; BAD_REQUEST for one that refers to
 * an unknown segment; CONFLICT when the project has too many such jobs unfinished
 */
export async function startListVerification(
  deps: Deps,
  { projectId, target }: { projectId: string; target: ListSelection<unknown> },
): Promise<string> {
  const checked: ListSelection =
    target.mode === 'emails' ? target : await checkSelection(deps, projectId, target)
  const payload: ListPayload = { projectId, ...checked }
  const job = { kind: LIST_JOB_KIND, projectId, payload, maxAttempts: MAX_ATTEMPTS }
  return deps.store.write((tx) => {
    tx.afterCommit(() => deps.jobNotifier.notify())
    return enqueueForProject(tx, { prefix: 'verify', ...job, now: deps.now() })
  })
}

/** @throws AppError RESOURCE_NOT_FOUND */
export function findListStatus(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, jobId }: { projectId: string; jobId: string },
): Promise<JobStatus> {
  return findJobStatus(deps, { projectId, id: jobId, kinds: [LIST_JOB_KIND] })
}
