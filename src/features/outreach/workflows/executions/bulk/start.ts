/** Enqueues the job that starts executions for many contacts (run.ts). */
import { notFound } from '../../../../../base/errors.ts'
import { findJobStatus, type JobStatus } from '../../../../../work/jobs/status.ts'
import type { Base } from '../../../../ground/base.ts'
import { compileCondition } from '../../../../ground/conditions/compile.ts'
import { type Condition, parseCondition } from '../../../../ground/conditions/condition.ts'
import { enqueueForProject } from '../../../../ground/enqueue-for-project.ts'
import { checkData } from '../../../../people/contacts/write/data.ts'
import { loadSegment } from '../../../../people/segments/segments.ts'
import type { WorkflowKey } from '../../load-workflow.ts'
import { getStartable } from '../find.ts'

export const BULK_START_KIND = 'start-executions'

/** Who is started: those who belong to the segment or match the filter when the job reaches them. */
type Selection<Filter> = { segmentId: string } | { filter: Filter }

/** The payload of the job; its status shows it. */
export type BulkStartPayload = Selection<Condition> & {
  projectId: string
  workflowId: string
  context: Record<string, unknown> | null
  /** The firing of a SCHEDULE, in epoch milliseconds. */
  firedAt?: number
}

type BulkStart = WorkflowKey & {
  selection: Selection<unknown>
  context: Record<string, unknown> | null
}

type Deps = Pick<Base, 'store' | 'now' | 'jobNotifier'>

/**
 * Returns the id of the job. `filter` is the unparsed condition of the request.
 * @throws AppError VALIDATION_ERROR (the filter; the context breaks a limit of contact data),
 *   WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND (the segment); BAD_REQUEST: the workflow is disabled or has
 *   no TRIGGER step, or the filter refers to an unknown segment; CONFLICT when the project has too many
 *   unfinished jobs of this kind
 */
export async function startMany(
  deps: Deps,
  { selection: given, context, ...key }: BulkStart,
): Promise<string> {
  const { store, now, jobNotifier } = deps
  const { projectId, id: workflowId } = key
  checkData(context, 'context')
  const selection = await parseSelection(deps, projectId, given)
  return store.write(async (tx) => {
    await getStartable(tx, key)
    if ('segmentId' in selection) await loadSegment(tx, { projectId, id: selection.segmentId })
    const payload: BulkStartPayload = { projectId, workflowId, ...selection, context }
    tx.afterCommit(() => jobNotifier.notify())
    const job = { prefix: 'bulk-start', kind: BULK_START_KIND, payload, projectId, now: now() }
    return enqueueForProject(tx, job)
  })
}

/** @throws AppError RESOURCE_NOT_FOUND */
export async function findBulkStart(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, id: workflowId, jobId }: WorkflowKey & { jobId: string },
): Promise<JobStatus> {
  const status = await findJobStatus(deps, { projectId, id: jobId, kinds: [BULK_START_KIND] })
  const payload = status.data as BulkStartPayload
  if (payload.workflowId === workflowId) return status
  throw notFound('job', jobId, 'There is no such job.')
}

async function parseSelection(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  selection: Selection<unknown>,
): Promise<Selection<Condition>> {
  if ('segmentId' in selection) return selection
  const filter = parseCondition(selection.filter, 'filter')
  await compileCondition(deps, { projectId, condition: filter })
  return { filter }
}
