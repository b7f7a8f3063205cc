import type { WorkflowExecution } from '../../../../store/schema/workflows.ts'

/** Whether an execution of a chain has not begun. TRIGGER, the first step, never waits. */
export function isInLine({ status, stepsDone }: Pick<WorkflowExecution, 'status' | 'stepsDone'>) {
  return status === 'WAITING' && stepsDone === 0
}
