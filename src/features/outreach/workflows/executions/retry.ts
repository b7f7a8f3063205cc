/** Lets a failed execution go on at the step that failed. */
import { AppError } from '../../../../base/errors.ts'
import type { ExecutionRecord } from '../../../../records/execution.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { type Workflow, workflowExecutions } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { addFigures } from '../figures.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { cancelActive } from './cancel-active.ts'
import { type ExecutionKey, getExecution } from './find.ts'
import { type FoundExecution, shownStatus, toExecutionRecord } from './view.ts'

type Deps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }
type Failed = { workflow: Workflow; execution: FoundExecution }

const findStep = statement<{ id: string }>(
  () => sql`select id from workflow_steps where id = ${parameter('id')} and removed_at is null`,
)

const findActive = statement<{ number: number }>(
  () => sql`select number from workflow_executions
    where workflow_id = ${parameter('workflowId')} and contact_id = ${parameter('contactId')}
      and status in ('RUNNING', 'WAITING')`,
)

/** The step keeps its id: a webhook that is tried again has the id of the first try. */
const reopenFailedStep = statement<{ stepId: string }>(
  () => sql`update workflow_step_executions set status = 'PENDING', completed_at = null, error = null
    where execution_number = ${parameter('number')} and ordinal = ${parameter('ordinal')}
      and status = 'FAILED' returning step_id as "stepId"`,
)

/**
 * Also of a disabled workflow, as its other executions go on too.
 * @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND; CONFLICT: it has not failed, its step was
 *   removed, or the contact has another active execution of the workflow
 */
export async function retryExecution(deps: Deps, key: ExecutionKey): Promise<ExecutionRecord> {
  const { store, now, workflowNotifier } = deps
  return store.write(async (tx) => {
    const failed = await getExecution(tx, key)
    const { workflow, execution } = failed
    const at = now()
    await refuseRetry(tx, failed, at)
    const { number, stepsDone: ordinal } = execution
    const step = await tx.find(reopenFailedStep, { number, ordinal })
    if (step !== undefined) await addFigures(tx, workflow.id, [[step.stepId, 'failed', -1]])
    await tx
      .update(workflowExecutions)
      .set({ status: 'RUNNING', exitReason: null, dueAt: 0, completedAt: null, updatedAt: at })
      .where(eq(workflowExecutions.number, number))
    const { id: workflowId, projectId } = workflow
    tx.afterCommit(() => workflowNotifier.notify({ kind: 'due', workflowId, projectId, dueAt: 0 }))
    const retried = await getExecution(tx, key)
    return toExecutionRecord(retried.execution, workflow)
  })
}

async function refuseRetry(tx: Tx, { workflow, execution }: Failed, at: number): Promise<void> {
  const { number, contactId, currentStepId } = execution
  const { id: workflowId, cancelledThrough } = workflow
  const status = shownStatus(execution, workflow)
  if (status !== 'FAILED') {
    throw new AppError('CONFLICT', `An execution that is ${status} cannot be retried.`)
  }
  const step = currentStepId === null ? undefined : await tx.find(findStep, { id: currentStepId })
  if (step === undefined) {
    throw new AppError('CONFLICT', 'The step at which the execution failed was removed.')
  }
  // Up to this number, active executions count as cancelled.
  if (number <= cancelledThrough) {
    throw new AppError('CONFLICT', 'The executions of the workflow are being cancelled.', {
      suggestion: 'Try again in a moment, when the cancelled executions have been written.',
    })
  }
  const active = await tx.find(findActive, { workflowId, contactId })
  if (active === undefined) return
  if (active.number > cancelledThrough) {
    throw new AppError('CONFLICT', 'The contact has another active execution of the workflow.')
  }
  await cancelActive(tx, { workflow, number: active.number, at })
}
