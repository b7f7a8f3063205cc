/**
 * Turns an execution into the record of the API. Active executions that were cancelled together are
 * shown as cancelled at once, although their rows change later (`cancel-all.ts`).
 */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { ExecutionRecord } from '../../../../records/execution.ts'
import { NO_REASON } from '../../../../records/reason.ts'
import type { ExecutionStatus, StepType } from '../../../../store/schema/words.ts'
import type { Workflow, WorkflowExecution } from '../../../../store/schema/workflows.ts'
import { isInLine } from '../chains/line.ts'
import { reasonOfExit } from '../reasons.ts'

/**
 * The columns of a workflow about the executions that were cancelled together. `fencedThrough`: the
 * number up to which executions are fenced.
 */
export type CancelledTogether = Pick<
  Workflow,
  'cancelledThrough' | 'cancelReason' | 'cancelledAt'
> & { fencedThrough?: number | undefined }

type StepReference = { id: string; name: string; type: StepType }

/** An execution with its contact's address and its current step. */
export type FoundExecution = WorkflowExecution & {
  address: string
  stepName: string | null
  stepType: StepType | null
}

export function shownStatus(
  { number, status }: Pick<WorkflowExecution, 'number' | 'status'>,
  { cancelledThrough }: Pick<CancelledTogether, 'cancelledThrough'>,
): ExecutionStatus {
  const isCancelled = isActiveExecution(status) && number <= cancelledThrough
  return isCancelled ? 'CANCELLED' : status
}

export function isActiveExecution(status: ExecutionStatus): boolean {
  return status === 'RUNNING' || status === 'WAITING'
}

export function toExecutionRecord(
  found: FoundExecution,
  together: CancelledTogether,
): ExecutionRecord {
  const { id, workflowId, contactId, context, sourceEventId, startedAt } = found
  const { status, currentStepId, exitReason, completedAt, updatedAt } = stateOf(found, together)
  return {
    id,
    workflowId,
    contactId,
    status,
    currentStepId,
    exitReason,
    ...(reasonOfExit({ status, exitReason }) ?? NO_REASON),
    context,
    sourceEventId,
    startedAt: formatInstant(startedAt),
    completedAt: formatOptionalInstant(completedAt),
    createdAt: formatInstant(startedAt),
    updatedAt: formatInstant(updatedAt),
    contact: { id: contactId, email: found.address },
    currentStep: toStepReference(currentStepId, { name: found.stepName, type: found.stepType }),
    depth: found.depth,
    heldReason: heldReasonOf(found, { status, ...together }),
  }
}

function heldReasonOf(
  { number, stepsDone }: FoundExecution,
  { status, fencedThrough = 0 }: CancelledTogether & { status: ExecutionStatus },
): ExecutionRecord['heldReason'] {
  if (isActiveExecution(status) && number <= fencedThrough) return 'restored'
  return isInLine({ status, stepsDone }) ? 'chain' : null
}

export function toStepReference(
  id: string | null,
  { name, type }: { name: string | null; type: StepType | null },
): StepReference | null {
  return id === null || name === null || type === null ? null : { id, name, type }
}

function stateOf(
  found: FoundExecution,
  together: CancelledTogether,
): Pick<
  WorkflowExecution,
  'status' | 'currentStepId' | 'exitReason' | 'completedAt' | 'updatedAt'
> {
  const status = shownStatus(found, together)
  if (status === found.status) return found
  const { cancelReason: exitReason, cancelledAt } = together
  const updatedAt = cancelledAt ?? found.updatedAt
  return { status, currentStepId: null, exitReason, completedAt: cancelledAt, updatedAt }
}
