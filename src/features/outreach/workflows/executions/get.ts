/** One execution with what it did at each step, removed steps too. */

import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { ExecutionRecord, StepExecutionRecord } from '../../../../records/execution.ts'
import { octets } from '../../../../store/dialect.ts'
import { asc, eq, getTableColumns, sql } from '../../../../store/drizzle.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import {
  type WorkflowStepExecution,
  workflowStepExecutions,
  workflowSteps,
} from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import { type Listing, wholeListing } from '../../../ground/listing.ts'
import { type ExecutionKey, getExecution } from './find.ts'
import { toExecutionRecord, toStepReference } from './view.ts'

/** `steps`: the last field of the record, `stepExecutions`. */
type ExecutionDetail = {
  record: ExecutionRecord & { workflow: { id: string; name: string } }
  steps: Listing<StepExecutionRecord, object>
}

type StepRow = WorkflowStepExecution & { stepName: string | null; stepType: StepType | null }

type StepLine = { ordinal: number; bytes: number }

/** Sizes come from the heads of rows; the texts themselves are not read. */
const listLines = statement<StepLine>(
  () => sql`select ordinal, coalesce(${octets(sql`input`)}, 0)
      + coalesce(${octets(sql`output`)}, 0) as bytes
    from workflow_step_executions where execution_number = ${parameter('number')} order by ordinal`,
)

const selectSteps = statement((db) =>
  db
    .select({
      ...getTableColumns(workflowStepExecutions),
      stepName: workflowSteps.name,
      stepType: workflowSteps.type,
    })
    .from(workflowStepExecutions)
    .leftJoin(workflowSteps, eq(workflowSteps.id, workflowStepExecutions.stepId))
    .where(
      sql`${workflowStepExecutions.executionNumber} = ${parameter('number')}
        and ${workflowStepExecutions.ordinal} between ${parameter('first')} and ${parameter('last')}`,
    )
    .orderBy(asc(workflowStepExecutions.ordinal)),
)

/** @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND */
export async function viewExecution(
  { store }: Pick<Base, 'store'>,
  key: ExecutionKey,
): Promise<ExecutionDetail> {
  const { workflow, execution } = await getExecution(store.read, key)
  const { number } = execution
  const lines = await store.scan.list(listLines, { number })
  const fencedThrough = (await findFence(store.read, key.projectId))?.executionNumber
  const view = toExecutionRecord(execution, { ...workflow, fencedThrough })
  // Its current step is written with its row, when it was cancelled together with others.
  const isCancelled = view.status === 'CANCELLED'
  const show = (step: StepRow) =>
    toStepView(isCancelled ? skipped(step, workflow.cancelledAt) : step, execution.id)
  const steps = wholeListing({
    lines,
    bytesOf: ({ bytes }: StepLine) => bytes,
    async read(slice) {
      const range = { first: slice[0]?.ordinal ?? 0, last: slice.at(-1)?.ordinal ?? 0 }
      const rows = await store.scan.list(selectSteps, { number, ...range })
      const byOrdinal = new Map(rows.map((row) => [row.ordinal, row]))
      return slice.map(({ ordinal }) => {
        const row = byOrdinal.get(ordinal)
        return row && show(row)
      })
    },
  })
  return { record: { ...view, workflow: { id: workflow.id, name: workflow.name } }, steps }
}

function skipped(step: StepRow, at: number | null): StepRow {
  if (step.completedAt !== null) return step
  return { ...step, status: 'SKIPPED', completedAt: at }
}

function toStepView(row: StepRow, executionId: string): StepExecutionRecord {
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
