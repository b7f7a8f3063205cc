/** Subscribing, unsubscribing or deleting many contacts: asked for here, done by a job (bulk-run.ts). */
import { enqueueForProject } from '../../../jobs/enqueue-for-project.ts'
import { findJobStatus, type JobStatus } from '../../../jobs/status.ts'
import type { Base } from '../../base.ts'
import { compileCondition } from '../../conditions/compile.ts'
import { type Condition, parseCondition } from '../../conditions/condition.ts'

export type BulkOperation = 'subscribe' | 'unsubscribe' | 'delete'

export type BulkFilter<Given = Condition> = {
  subscribed?: boolean | undefined
  /** Part of the address. */
  search?: string | undefined
  condition?: Given | undefined
}

/** Which contacts: those named, or those that match when the job begins. */
export type BulkSelection<Given = Condition> =
  | { mode: 'ids'; contactIds: readonly string[] }
  | { mode: 'query'; filter: BulkFilter<Given>; excludeIds: readonly string[] }

/** The payload of the job, which its status shows. */
export type BulkPayload = BulkSelection & { operation: BulkOperation; projectId: string }

type Deps = Pick<Base, 'store' | 'now' | 'jobNotifier'>

/**
 * The id of the job. `condition` is given as it came.
 * @throws AppError VALIDATION_ERROR for a condition that is none; BAD_REQUEST for one that refers to
 * an unknown segment; CONFLICT when the project has too many such jobs unfinished
 */
export async function startBulk(
  deps: Deps,
  input: { projectId: string; operation: BulkOperation; target: BulkSelection<unknown> },
): Promise<string> {
  const { projectId, operation } = input
  const target = await checkSelection(deps, projectId, input.target)
  const { store, now, jobNotifier } = deps
  return store.write((tx) => {
    tx.afterCommit(() => jobNotifier.notify())
    const payload: BulkPayload = { operation, projectId, ...target }
    const prefix = `bulk-${operation}`
    return enqueueForProject(tx, { prefix, kind: 'bulk', payload, projectId, now: now() })
  })
}

/** Also of a field's deletion. @throws AppError RESOURCE_NOT_FOUND */
export function findBulkStatus(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, jobId }: { projectId: string; jobId: string },
): Promise<JobStatus> {
  return findJobStatus(deps, { projectId, id: jobId, kinds: ['bulk', 'delete-field'] })
}

/** As it will be kept: each id once, the condition parsed. @throws AppError as `startBulk` */
export async function checkSelection(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  target: BulkSelection<unknown>,
): Promise<BulkSelection> {
  if (target.mode === 'ids') return { ...target, contactIds: [...new Set(target.contactIds)] }
  const { condition: given, ...filter } = target.filter
  if (given === undefined) return { ...target, filter }
  const condition = parseCondition(given, 'filter.condition')
  await compileCondition(deps, { projectId, condition })
  return { ...target, filter: { ...filter, condition } }
}
