/**
 * Shows executions: one execution with its work at each step, including removed steps, and the list
 * of a workflow by page number. The list begins with the execution that was started last. A
 * workflow may have millions of executions, so a page is merged from one range of an index for each
 * status.
 */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { ExecutionRecord, StepExecutionRecord } from '../../../../records/execution.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../../records/limits.ts'
import { NO_REASON } from '../../../../records/reason.ts'
import { EXECUTION_STATUSES } from '../../../../records/words.ts'
import { indexedBy, octets } from '../../../../store/dialect.ts'
import { asc, eq, getTableColumns, type SQL, sql } from '../../../../store/drizzle.ts'
import type { ExecutionStatus, StepType } from '../../../../store/schema/words.ts'
import {
  type WorkflowStepExecution,
  workflowStepExecutions,
  workflowSteps,
} from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import { type Listing, wholeListing } from '../../../ground/listing.ts'
import { MAX_CONTEXT_BYTES } from '../engine/walk.ts'
import { reasonOfStep } from '../reasons.ts'
import { loadWorkflow, type WorkflowKey } from '../workflow.ts'
import { type ExecutionKey, findExecution, loadExecution } from './find.ts'
import { countExecutions } from './stats.ts'
import { type CancelledTogether, toExecutionRecord, toStepReference } from './view.ts'

/** `steps`: the last field of the record, `stepExecutions`. */
type ExecutionDetail = {
  record: ExecutionRecord & { workflow: { id: string; name: string } }
  steps: Listing<StepExecutionRecord, object>
}

type StepRow = WorkflowStepExecution & { stepName: string | null; stepType: StepType | null }

type StepLine = { ordinal: number; bytes: number }

/**
 * Lists the steps of an execution with their sizes, which are known from the heads of rows: the
 * texts themselves are not read.
 */
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

type ExecutionQuery = WorkflowKey & {
  /** The number of the page, 1 by default. */
  page?: number | undefined
  /** The executions of a page: 20 by default, at most 100. */
  pageSize?: number | undefined
  status?: ExecutionStatus | undefined
}

type ExecutionPage = { listing: Listing<ExecutionRecord, object>; total: number }

type PageRange = {
  workflowId: string
  cancelledThrough: number
  status: ExecutionStatus | undefined
  limit: number
  offset: number
}

/** @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND */
export async function viewExecution(
  { store }: Pick<Base, 'store'>,
  key: ExecutionKey,
): Promise<ExecutionDetail> {
  const { workflow, execution } = await loadExecution(store.read, key)
  const { number } = execution
  const lines = await store.scan.list(listLines, { number })
  const fencedThrough = (await findFence(store.read, key.projectId))?.executionNumber
  const view = toExecutionRecord(execution, { ...workflow, fencedThrough })
  // The row of an execution that was cancelled with others changes later, and that of its current
  // step too.
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
    ...(reasonOfStep(error) ?? NO_REASON),
    startedAt: formatInstant(startedAt),
    completedAt: formatOptionalInstant(completedAt),
    createdAt: formatInstant(startedAt),
    updatedAt: formatInstant(completedAt ?? startedAt),
    step: toStepReference(stepId, { name: row.stepName, type: row.stepType }),
  }
}

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function listExecutions(
  { store }: Pick<Base, 'store'>,
  { page = 1, status, ...query }: ExecutionQuery,
): Promise<ExecutionPage> {
  const limit = Math.min(query.pageSize ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
  const workflow = await loadWorkflow(store.read, query)
  const { id: workflowId, cancelledThrough } = workflow
  const range = { workflowId, cancelledThrough, status, limit, offset: (page - 1) * limit }
  const [rows, counts] = await Promise.all([
    store.scan.all<{ number: number }>(selectNumbers(range)),
    countExecutions({ store }, workflow),
  ])
  const numbers = rows.map(({ number }) => number)
  const fencedThrough = (await findFence(store.read, query.projectId))?.executionNumber
  const total =
    status === undefined
      ? Object.values(counts).reduce((sum, count) => sum + count, 0)
      : counts[status]
  const together = { ...workflow, fencedThrough }
  const listing = wholeListing({
    lines: numbers,
    bytesOf: () => MAX_CONTEXT_BYTES,
    read: (slice) => readRecords({ store }, slice, together),
  })
  return { listing, total }
}

/** Reads the records of executions; undefined for an execution that was deleted meanwhile. */
async function readRecords(
  { store }: Pick<Base, 'store'>,
  numbers: readonly number[],
  together: CancelledTogether,
): Promise<(ExecutionRecord | undefined)[]> {
  const views: (ExecutionRecord | undefined)[] = []
  for (const number of numbers) {
    const found = await findExecution(store.read, number)
    views.push(found && toExecutionRecord(found, together))
  }
  return views
}

/** Selects the numbers of a page. */
export function selectNumbers({ limit, offset, ...range }: PageRange): SQL {
  const ranges = sql.join(rangesOf(range), sql` union all `)
  return sql`${ranges} order by number desc limit ${limit} offset ${offset}`
}

/** Returns the ranges that a page is merged from, each in the order of numbers. */
function rangesOf({
  workflowId,
  cancelledThrough,
  status: shown,
}: Omit<PageRange, 'limit' | 'offset'>): SQL[] {
  const rangeOf = (status: ExecutionStatus, numbers = sql``) =>
    sql`select number from workflow_executions ${indexedBy('workflow_executions_status')}
      where workflow_id = ${workflowId} and status = ${status}${numbers}`
  const through = sql`cast(${cancelledThrough} as integer)`
  if (shown === undefined) return EXECUTION_STATUSES.map((status) => rangeOf(status))
  if (shown === 'RUNNING' || shown === 'WAITING') {
    return [rangeOf(shown, sql` and number > ${through}`)]
  }
  if (shown !== 'CANCELLED' || cancelledThrough === 0) return [rangeOf(shown)]
  const isCancelled = sql` and number <= ${through}`
  return [rangeOf(shown), rangeOf('RUNNING', isCancelled), rangeOf('WAITING', isCancelled)]
}
