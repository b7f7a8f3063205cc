/** Enqueues the job that verifies many addresses (run.ts). It changes no contact. */
import { findJobStatus, type JobStatus } from '../../../../work/jobs/status.ts'
import type { Base } from '../../../ground/base.ts'
import type { Condition } from '../../../ground/conditions/condition.ts'
import { enqueueForProject } from '../../../ground/enqueue-for-project.ts'
import { type BulkSelection, checkSelection } from '../../contacts/bulk/start.ts'

/** The addresses to verify: given as such, or those of contacts given by id or by a query. */
export type ListSelection<RawCondition = Condition> =
  | { mode: 'emails'; emails: readonly string[] }
  | BulkSelection<RawCondition>

/** The payload of the job; its status shows it. */
export type ListPayload = ListSelection & { projectId: string }

export const LIST_JOB_KIND = 'verify-list'

/** Addresses that one request may give. */
export const MAX_VERIFIED_ADDRESSES = 10_000

/** Attempts of a job that fails, for instance because the database cannot be written. */
const MAX_ATTEMPTS = 5

type Deps = Pick<Base, 'store' | 'now' | 'jobNotifier'>

/**
 * Returns the id of the job. The condition is the unparsed one of the request.
 * @throws AppError VALIDATION_ERROR for an invalid condition; BAD_REQUEST for a condition that refers
 *   to an unknown segment; CONFLICT when the project has too many unfinished jobs of this kind
 */
export async function startListVerification(
  deps: Deps,
  { projectId, selection }: { projectId: string; selection: ListSelection<unknown> },
): Promise<string> {
  const checked: ListSelection =
    selection.mode === 'emails' ? selection : await checkSelection(deps, projectId, selection)
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
