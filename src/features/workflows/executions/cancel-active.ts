/** Writes that an active execution is cancelled: its row, its current step and what it waits for. */
import { sql } from '../../../store/drizzle.ts'
import type { Workflow } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { addFigures } from '../figures.ts'

type Cancellation = {
  workflow: Pick<Workflow, 'id' | 'cancelReason'>
  number: number
  at: number
}

const CANCELLED_WITH_ALL = 'cancelled with all executions'

const cancelRow = statement(
  () => sql`update workflow_executions set status = 'CANCELLED', exit_reason = ${parameter('reason')},
      current_step_id = null, due_at = null, completed_at = ${parameter('at')},
      updated_at = ${parameter('at')}
    where number = ${parameter('number')} and status in ('RUNNING', 'WAITING')`,
)

const skipStep = statement<{ stepId: string }>(
  () => sql`update workflow_step_executions set status = 'SKIPPED', completed_at = ${parameter('at')}
    where execution_number = ${parameter('number')} and completed_at is null
    returning step_id as "stepId"`,
)

const endWait = statement(
  () => sql`delete from workflow_waits where execution_number = ${parameter('number')}`,
)

const endRequest = statement(
  () => sql`delete from workflow_requests where execution_number = ${parameter('number')}`,
)

/** Returns whether the execution was active. `cancelReason`: null for a cancellation of all. */
export async function cancelActive(
  tx: Tx,
  { workflow, number, at }: Cancellation,
): Promise<boolean> {
  const reason = workflow.cancelReason ?? CANCELLED_WITH_ALL
  const isCancelled = (await tx.execute(cancelRow, { number, reason, at })) === 1
  if (!isCancelled) return false
  const skipped = await tx.find(skipStep, { number, at })
  if (skipped !== undefined) await addFigures(tx, workflow.id, [[skipped.stepId, 'skipped', 1]])
  await tx.execute(endWait, { number })
  await tx.execute(endRequest, { number })
  return true
}
