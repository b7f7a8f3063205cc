/**
 * Lists the executions of a workflow by page number, those that were started last first. A workflow
 * may have millions: the page is a merge of the ranges of the statuses in one index.
 */

import type { ExecutionRecord } from '../../../../records/execution.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../../records/limits.ts'
import { EXECUTION_STATUSES } from '../../../../records/words.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import type { ExecutionStatus } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import { type Listing, wholeListing } from '../../../ground/listing.ts'
import { MAX_CONTEXT_BYTES } from '../engine/walk.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import { countExecutions } from './count.ts'
import { findExecution } from './find.ts'
import { type CancelledTogether, toExecutionRecord } from './view.ts'

type ExecutionQuery = WorkflowKey & {
  /** Counts from 1, which is the default. */
  page?: number | undefined
  /** 20 if absent, at most 100. */
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

/** Undefined for an execution that was deleted meanwhile. */
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

/** Each is in the order of numbers. */
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
