/** Cancels one execution. */
import type { ExecutionRecord } from '../../../../records/execution.ts'
import type { Base } from '../../../ground/base.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import { cancelActive } from './cancel-active.ts'
import { type ExecutionKey, getExecution } from './find.ts'
import { isActive, shownStatus, toExecutionRecord } from './view.ts'

/** An execution that has ended stays as it is. @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND */
export async function cancelExecution(
  { store, now }: Pick<Base, 'store' | 'now'>,
  key: ExecutionKey,
): Promise<ExecutionRecord> {
  return store.write(async (tx) => {
    const { workflow, execution } = await getExecution(tx, key)
    if (!isActive(shownStatus(execution, workflow))) return toExecutionRecord(execution, workflow)
    const cancellation = { id: workflow.id, cancelReason: EXIT_REASONS.cancelled }
    await cancelActive(tx, { workflow: cancellation, number: execution.number, at: now() })
    const cancelled = await getExecution(tx, key)
    return toExecutionRecord(cancelled.execution, workflow)
  })
}
