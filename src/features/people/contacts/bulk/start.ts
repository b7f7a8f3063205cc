/** Enqueues the job that subscribes, unsubscribes or deletes many contacts (run.ts). */
import { findJobStatus, type JobStatus } from '../../../../work/jobs/status.ts'
import type { Base } from '../../../ground/base.ts'
import { compileCondition } from '../../../ground/conditions/compile.ts'
import { type Condition, parseCondition } from '../../../ground/conditions/condition.ts'
import { enqueueForProject } from '../../../ground/enqueue-for-project.ts'

export type BulkOperation = 'subscribe' | 'unsubscribe' | 'delete'

type BulkFilter<RawCondition = Condition> = {
  subscribed?: boolean | undefined
  /** A part of the address. */
  search?: string | undefined
  condition?: RawCondition | undefined
}

/** The contacts of a bulk job: given by id, or those that match when the job starts. */
export type BulkSelection<RawCondition = Condition> =
  | { mode: 'ids'; contactIds: readonly string[] }
  | { mode: 'query'; filter: BulkFilter<RawCondition>; excludeIds: readonly string[] }

/** The payload of the job; its status shows it. */
export type BulkPayload = BulkSelection & {
  operation: BulkOperation
  projectId: string
  /** Whether a `subscribe` takes in people who left; absent in jobs of an earlier version. */
  resubscribe?: boolean
}

type Deps = Pick<Base, 'store' | 'now' | 'jobNotifier'>

/**
 * Returns the id of the job. `condition` is the unparsed condition of the request.
 * @throws AppError VALIDATION_ERROR for an invalid condition; BAD_REQUEST for a condition that refers
 *   to an unknown segment; CONFLICT when the project has too many unfinished jobs of this kind
 */
export async function startBulk(
  deps: Deps,
  input: {
    projectId: string
    operation: BulkOperation
    selection: BulkSelection<unknown>
    resubscribe?: boolean
  },
): Promise<string> {
  const { projectId, operation, resubscribe } = input
  const selection = await checkSelection(deps, projectId, input.selection)
  const { store, now, jobNotifier } = deps
  return store.write((tx) => {
    tx.afterCommit(() => jobNotifier.notify())
    const asked = resubscribe === undefined ? {} : { resubscribe }
    const payload: BulkPayload = { operation, projectId, ...asked, ...selection }
    const prefix = `bulk-${operation}`
    return enqueueForProject(tx, { prefix, kind: 'bulk', payload, projectId, now: now() })
  })
}

/** Finds the status of a bulk job or of a field's deletion. @throws AppError RESOURCE_NOT_FOUND */
export function findBulkStatus(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, jobId }: { projectId: string; jobId: string },
): Promise<JobStatus> {
  return findJobStatus(deps, { projectId, id: jobId, kinds: ['bulk', 'delete-field'] })
}

/** Returns the selection with each id once and the condition parsed. @throws AppError as `startBulk` */
export async function checkSelection(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  selection: BulkSelection<unknown>,
): Promise<BulkSelection> {
  if (selection.mode === 'ids')
    return { ...selection, contactIds: [...new Set(selection.contactIds)] }
  const { condition: given, ...filter } = selection.filter
  if (given === undefined) return { ...selection, filter }
  const condition = parseCondition(given, 'filter.condition')
  await compileCondition(deps, { projectId, condition })
  return { ...selection, filter: { ...filter, condition } }
}
