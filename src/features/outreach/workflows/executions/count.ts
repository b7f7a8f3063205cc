/** Counts the executions of a workflow by the status that is shown. */
import { indexedBy } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { ExecutionStatus } from '../../../../store/schema/words.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

export type ExecutionCounts = Readonly<Record<ExecutionStatus, number>>

/**
 * Reads an index only. `isShown`: 0 for rows that count as cancelled although they do not say so yet;
 * these are counted in both rows of their status.
 */
export const countByStatus = statement<{ status: ExecutionStatus; count: number; isShown: number }>(
  () => sql`select status, count(*) as count, 1 as "isShown"
    from workflow_executions ${indexedBy('workflow_executions_status')}
    where workflow_id = ${parameter('workflowId')} group by status
    union all
    select status, count(*), 0
    from workflow_executions ${indexedBy('workflow_executions_status')}
    where workflow_id = ${parameter('workflowId')} and status in ('RUNNING', 'WAITING')
      and number <= ${parameter('through')} group by status`,
)

export async function countExecutions(
  { store }: Pick<Base, 'store'>,
  { id: workflowId, cancelledThrough: through }: Pick<Workflow, 'id' | 'cancelledThrough'>,
): Promise<ExecutionCounts> {
  const rows = await store.scan.list(countByStatus, { workflowId, through })
  const counts = { RUNNING: 0, WAITING: 0, COMPLETED: 0, EXITED: 0, FAILED: 0, CANCELLED: 0 }
  for (const { status, count, isShown } of rows) {
    if (isShown === 1) counts[status] += count
    else {
      counts[status] -= count
      counts.CANCELLED += count
    }
  }
  return counts
}
