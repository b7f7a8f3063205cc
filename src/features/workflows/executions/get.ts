/** One execution with what it did at each step, removed steps too. */
import { formatInstant, formatOptionalInstant } from '../../../clock.ts'
import { asc, eq, getTableColumns } from '../../../store/drizzle.ts'
import type { StepExecutionStatus, StepType } from '../../../store/schema/words.ts'
import {
  type WorkflowStepExecution,
  workflowStepExecutions,
  workflowSteps,
} from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import { findFence } from '../../fence/rows.ts'
import { type ExecutionKey, getExecution } from './find.ts'
import { type ExecutionView, type StepReference, toExecutionView, toStepReference } from './view.ts'

export type StepExecutionView = {
  id: string
  executionId: string
  stepId: string
  status: StepExecutionStatus
  scheduledFor: string | null
  executeAfter: string | null
  input: Record<string, unknown> | null
  output: Record<string, unknown> | null
  error: string | null
  startedAt: string
  completedAt: string | null
  createdAt: string
  updatedAt: string
  step: StepReference | null
}

export type ExecutionDetail = ExecutionView & {
  workflow: { id: string; name: string }
  stepExecutions: StepExecutionView[]
}

type StepRow = WorkflowStepExecution & { stepName: string | null; stepType: StepType | null }

const selectSteps = statement((db) =>
  db
    .select({
      ...getTableColumns(workflowStepExecutions),
      stepName: workflowSteps.name,
      stepType: workflowSteps.type,
    })
    .from(workflowStepExecutions)
    .leftJoin(workflowSteps, eq(workflowSteps.id, workflowStepExecutions.stepId))
    .where(eq(workflowStepExecutions.executionNumber, parameter('number')))
    .orderBy(asc(workflowStepExecutions.ordinal)),
)

/** @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND */
export async function viewExecution(
  { store }: Pick<Base, 'store'>,
  key: ExecutionKey,
): Promise<ExecutionDetail> {
  const { workflow, execution } = await getExecution(store.read, key)
  const steps = await store.scan.list(selectSteps, { number: execution.number })
  const fencedThrough = (await findFence(store.read, key.projectId))?.executionNumber
  const view = toExecutionView(execution, { ...workflow, fencedThrough })
  // Its current step is written with its row, when it was cancelled together with others.
  const isCancelled = view.status === 'CANCELLED'
  return {
    ...view,
    workflow: { id: workflow.id, name: workflow.name },
    stepExecutions: steps.map((step) =>
      toStepView(isCancelled ? skipped(step, workflow.cancelledAt) : step, execution.id),
    ),
  }
}

function skipped(step: StepRow, at: number | null): StepRow {
  if (step.completedAt !== null) return step
  return { ...step, status: 'SKIPPED', completedAt: at }
}

function toStepView(row: StepRow, executionId: string): StepExecutionView {
  const { id, stepId, status, input, output, error, startedAt, completedAt } = row
  return {
    id,
    executionId,
    stepId,
    status,
    scheduledFor: formatOptionalInstant(row.scheduledFor),
    executeAfter: formatOptionalInstant(row.executeAfter),
    input,
    output,
    error,
    startedAt: formatInstant(startedAt),
    completedAt: formatOptionalInstant(completedAt),
    createdAt: formatInstant(startedAt),
    updatedAt: formatInstant(completedAt ?? startedAt),
    step: toStepReference(stepId, { name: row.stepName, type: row.stepType }),
  }
}
