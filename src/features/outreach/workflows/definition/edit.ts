/**
 * Edits of a workflow: each is one transaction, checks the version that the caller knows, and makes a
 * new version. The engine keeps graphs by their version.
 */
import { AppError } from '../../../../base/errors.ts'
import type { WorkflowDetail } from '../../../../records/workflow.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type Workflow, workflows } from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { ReportUnknown } from '../graph/parse-config.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import { CrowdedSteps, cancelAtSteps } from './delete-steps.ts'
import { loadDetail, type Viewer } from './view.ts'

export type GraphEdit = WorkflowKey &
  Viewer & {
    /** Whether the caller knows this version; without it, the last change wins. */
    isExpected?: ((version: number) => boolean) | undefined
    /** Called with names in configs that nothing reads, before anything is written. */
    report?: ReportUnknown | undefined
  }

export type EditDeps = Pick<Base, 'store' | 'now'>

/**
 * Runs `change` in a transaction, which calls `saveVersion` if it changes something.
 * @throws AppError WORKFLOW_NOT_FOUND; CONFLICT with status 412 and the record in `details.current` for
 *   another version; errors of `change`. `details.cancelledExecutions`: those that were cancelled for
 *   the edit before it was refused
 */
export async function editWorkflow<T>(
  deps: EditDeps,
  edit: GraphEdit,
  change: (tx: Tx, workflow: Workflow) => Promise<T>,
): Promise<T> {
  const { isExpected = () => true, ...key } = edit
  const write = () =>
    deps.store.write(
      async (tx) => {
        const workflow = await loadWorkflow(tx, key)
        if (!isExpected(workflow.version)) throw otherVersion(await loadDetail(tx, workflow, edit))
        return change(tx, workflow)
      },
      { heavyFor: key.projectId },
    )
  for (let cancelled = 0; ; ) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof CrowdedSteps)) throw withCancelled(error, cancelled)
      cancelled += await cancelAtSteps(deps, key, error)
    }
  }
}

/** Returns the error of a refused edit for which executions had been cancelled before. */
function withCancelled(error: unknown, cancelled: number): unknown {
  if (cancelled === 0 || !(error instanceof AppError)) return error
  const { code, message, status, suggestion, fields, details } = error
  const text = `${message} ${cancelled} executions at the steps to remove were cancelled before.`
  return new AppError(code, text, {
    ...{ status, cause: error, details: { ...details, cancelledExecutions: cancelled } },
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(fields === undefined ? {} : { fields }),
  })
}

/** Makes a new version with these columns and returns it. */
export async function saveVersion(
  tx: Tx,
  workflow: Workflow,
  { at, ...columns }: Partial<Workflow> & { at: number },
): Promise<Workflow> {
  return tx
    .update(workflows)
    .set({ ...columns, version: workflow.version + 1, updatedAt: at })
    .where(eq(workflows.id, workflow.id))
    .returning()
    .get()
}

/** HTTP 412, because the caller has named the version that it knows (RFC 9110 section 13.1.1). */
function otherVersion(current: WorkflowDetail): AppError {
  return new AppError('CONFLICT', 'The workflow was changed meanwhile; nothing was saved.', {
    status: 412,
    details: { current },
    suggestion: 'Apply the change to the current version, or send it without If-Match.',
  })
}
