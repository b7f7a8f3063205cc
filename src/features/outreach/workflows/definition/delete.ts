/**
 * Deletes workflows: they are gone with the transaction that marks them, so nothing starts and nothing
 * is retried from then on. A job deletes their executions (`erase.ts`).
 */
import { AppError } from '../../../../base/errors.ts'
import { inArray } from '../../../../store/drizzle.ts'
import { type Workflow, workflows } from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { enqueueJob } from '../../../../work/jobs/enqueue.ts'
import type { Base } from '../../../ground/base.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { hasActive } from './active.ts'
import { ERASE_KIND, eraseSteps } from './erase.ts'

export type DeletionDeps = Pick<Base, 'store' | 'now' | 'jobNotifier'> & {
  workflowNotifier: WorkflowNotifier
}

/** @throws AppError WORKFLOW_NOT_FOUND; CONFLICT while executions are active */
export async function deleteWorkflow(deps: DeletionDeps, key: WorkflowKey): Promise<void> {
  const find = async (tx: Tx) => [await loadWorkflow(tx, key)]
  await deleteAll(deps, { projectId: key.projectId, find })
}

/**
 * Deletes all of the workflows or none, and returns how many. The ids of their steps are free again.
 * @throws AppError CONFLICT while executions are active; errors of `find`
 */
export async function deleteAll(
  deps: DeletionDeps,
  { projectId, find }: { projectId: string; find(tx: Tx): Promise<Workflow[]> },
): Promise<number> {
  const mark = async (tx: Tx) => {
    const found = await find(tx)
    for (const workflow of found) await refuseActive(tx, workflow)
    const ids = found.map(({ id }) => id)
    await markDeleted(deps, tx, { projectId, ids })
    return ids
  }
  const ids = await deps.store.write(mark, { heavyFor: projectId })
  await eraseSteps(deps, { projectId, ids })
  return ids.length
}

async function markDeleted(
  { now, jobNotifier, workflowNotifier }: DeletionDeps,
  tx: Tx,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<void> {
  const at = now()
  await tx
    .update(workflows)
    .set({ deletedAt: at, isEnabled: false, nextFireAt: null })
    .where(inArray(workflows.id, [...ids]))
  await enqueueJob(tx, { kind: ERASE_KIND, projectId, payload: {}, now: at })
  tx.afterCommit(() => {
    workflowNotifier.notify({ kind: 'schedule' })
    jobNotifier.notify()
  })
}

async function refuseActive(tx: Tx, workflow: Workflow): Promise<void> {
  if (!(await hasActive(tx, workflow))) return
  throw new AppError('CONFLICT', `The workflow "${workflow.name}" has active executions.`, {
    details: { resource: 'workflow', id: workflow.id },
    suggestion: 'Cancel them with POST /workflows/:id/executions/cancel-all.',
  })
}
