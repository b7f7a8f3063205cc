/**
 * Deletes workflows with their executions. A long history goes first, in short transactions between
 * which other writes run; the workflow is disabled meanwhile, so that nothing starts. After a crash in
 * between it is still there, disabled, and another deletion goes on.
 */
import { AppError } from '../../../errors.ts'
import { eq, inArray, sql } from '../../../store/drizzle.ts'
import { type Workflow, workflows } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { hasActive } from './active.ts'
import { saveVersion } from './edit.ts'

export type DeletionDeps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }

/** Executions that one transaction deletes, with their steps: about 10 ms. */
const PAGE = 200

const hasMore = statement<{ number: number }>(
  () => sql`select number from workflow_executions where workflow_id = ${parameter('workflowId')}
    limit 1 offset ${PAGE}`,
)

const deletePage = statement(
  () => sql`delete from workflow_executions where number in (
    select number from workflow_executions where workflow_id = ${parameter('workflowId')}
    limit ${PAGE})`,
)

/** @throws AppError WORKFLOW_NOT_FOUND; CONFLICT while executions are active */
export async function deleteWorkflow(deps: DeletionDeps, key: WorkflowKey): Promise<void> {
  const find = async (tx: Tx) => [await loadWorkflow(tx, key)]
  await deleteAll(deps, { projectId: key.projectId, find })
}

/**
 * Deletes all of the workflows or none.
 * @throws AppError CONFLICT while executions are active; errors of `find`, which runs again in the
 *   transaction that deletes
 */
export async function deleteAll(
  deps: DeletionDeps,
  { projectId, find }: { projectId: string; find(tx: Tx): Promise<Workflow[]> },
): Promise<number> {
  const findIdle = async (tx: Tx) => {
    const found = await find(tx)
    for (const workflow of found) await refuseActive(tx, workflow)
    return found
  }
  const heavyFor = projectId
  const long = await deps.store.write((tx) => disableLong(deps, tx, findIdle), { heavyFor })
  for (const id of long) await deleteHistory(deps, { projectId, id })
  return deps.store.write(
    async (tx) => {
      const ids = (await findIdle(tx)).map(({ id }) => id)
      await tx.delete(workflows).where(inArray(workflows.id, ids))
      tx.afterCommit(() => deps.workflowNotifier.notify({ kind: 'schedule' }))
      return ids.length
    },
    { heavyFor },
  )
}

/** Disables the workflows with a long history and returns their ids. */
async function disableLong(
  { now }: DeletionDeps,
  tx: Tx,
  find: (tx: Tx) => Promise<Workflow[]>,
): Promise<string[]> {
  const ids: string[] = []
  for (const workflow of await find(tx)) {
    const { id: workflowId } = workflow
    if ((await tx.find(hasMore, { workflowId })) === undefined) continue
    ids.push(workflowId)
    if (!workflow.isEnabled) continue
    await saveVersion(tx, workflow, { isEnabled: false, nextFireAt: null, at: now() })
  }
  return ids
}

/** Stops if the workflow is enabled meanwhile. */
async function deleteHistory({ store }: DeletionDeps, key: WorkflowKey): Promise<void> {
  const deleteSome = async (tx: Tx) => {
    const row = await tx
      .select({ isEnabled: workflows.isEnabled })
      .from(workflows)
      .where(eq(workflows.id, key.id))
      .get()
    return row === undefined || row.isEnabled ? 0 : tx.execute(deletePage, { workflowId: key.id })
  }
  while ((await store.write(deleteSome, { heavyFor: key.projectId })) === PAGE);
}

async function refuseActive(tx: Tx, workflow: Workflow): Promise<void> {
  if (!(await hasActive(tx, workflow))) return
  throw new AppError('CONFLICT', `The workflow "${workflow.name}" has active executions.`, {
    details: { resource: 'workflow', id: workflow.id },
    suggestion: 'Cancel them with POST /workflows/:id/executions/cancel-all.',
  })
}
