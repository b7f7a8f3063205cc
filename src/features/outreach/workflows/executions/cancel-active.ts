/**
 * Cancels active executions: writes their rows, their current steps and the ends of their waits.
 */
import type { ExecutionRecord } from '../../../../records/execution.ts'
import { listOf } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import { addFigures, type FigureChange } from '../figures.ts'
import { type ExecutionKey, loadExecution } from './find.ts'
import { isActiveExecution, shownStatus, toExecutionRecord } from './view.ts'

type Cancellation = {
  workflow: Pick<Workflow, 'id' | 'cancelReason'>
  number: number
  at: number
}

/**
 * A cancellation of all active executions. `through`: the number of the last cancelled execution.
 */
type CancellationOfAll = {
  workflow: Pick<Workflow, 'id' | 'cancelReason'>
  through: number
  limit: number
  at: number
}

type Cancelled = { number: number }

const cancelOne = cancelWhere(sql`number = ${parameter('number')}
  and status in ('RUNNING', 'WAITING')`)

const cancelSome = cancelWhere(sql`number in (select number from workflow_executions
  where workflow_id = ${parameter('workflowId')} and status in ('RUNNING', 'WAITING')
    and number <= ${parameter('through')}
  limit ${parameter('limit')})`)

/**
 * Lists steps, such as webhooks, that ended but were not counted yet, because the engine has not
 * gone on from them.
 */
const listUncounted = statement<{ stepId: string; figure: 'completed' | 'failed' }>(
  () => sql`select step.step_id as "stepId", lower(step.status) as figure
    from workflow_step_executions as step
    join workflow_executions as execution on execution.number = step.execution_number
      and execution.steps_done = step.ordinal
    where step.execution_number in ${listOf(parameter('numbers'))}
      and step.status in ('COMPLETED', 'FAILED')`,
)

const skipSteps = statement<{ stepId: string }>(
  () => sql`update workflow_step_executions set status = 'SKIPPED', completed_at = ${parameter('at')}
    where execution_number in ${listOf(parameter('numbers'))} and completed_at is null
    returning step_id as "stepId"`,
)

const endWaits = statement(
  () => sql`delete from workflow_waits
    where execution_number in ${listOf(parameter('numbers'))}`,
)

const endRequests = statement(
  () => sql`delete from workflow_requests
    where execution_number in ${listOf(parameter('numbers'))}`,
)

/**
 * Cancels an execution, and returns whether it was active. `cancelReason`: null if it is cancelled
 * with all others.
 */
export async function cancelActive(
  tx: Tx,
  { workflow, number, at }: Cancellation,
): Promise<boolean> {
  const cancelled = await tx.list(cancelOne, { number, reason: reasonOf(workflow), at })
  await endSteps(tx, workflow.id, { cancelled, at })
  return cancelled.length > 0
}

/** Cancels up to `limit` executions of a workflow, and returns how many. */
export async function cancelManyActive(
  tx: Tx,
  { workflow, through, limit, at }: CancellationOfAll,
): Promise<number> {
  const key = { workflowId: workflow.id, through, limit }
  const cancelled = await tx.list(cancelSome, { ...key, reason: reasonOf(workflow), at })
  await endSteps(tx, workflow.id, { cancelled, at })
  return cancelled.length
}

function cancelWhere(condition: SQL) {
  return statement<Cancelled>(
    () => sql`update workflow_executions set status = 'CANCELLED', exit_reason = ${parameter('reason')},
        current_step_id = null, due_at = null, completed_at = ${parameter('at')},
        updated_at = ${parameter('at')}
      where ${condition} returning number`,
  )
}

async function endSteps(
  tx: Tx,
  workflowId: string,
  { cancelled, at }: { cancelled: readonly Cancelled[]; at: number },
): Promise<void> {
  if (cancelled.length === 0) return
  const numbers = JSON.stringify(cancelled.map(({ number }) => number))
  const uncounted = await tx.list(listUncounted, { numbers })
  const skipped = await tx.list(skipSteps, { numbers, at })
  const ended = [...uncounted, ...skipped.map(({ stepId }) => ({ stepId, figure: 'skipped' }))]
  const bySubject = Map.groupBy(ended, ({ stepId, figure }) => `${stepId} ${figure}`)
  await addFigures(
    tx,
    workflowId,
    [...bySubject.values()].flatMap((each) =>
      each.slice(0, 1).map(({ stepId, figure }): FigureChange => [stepId, figure, each.length]),
    ),
  )
  await tx.execute(endWaits, { numbers })
  await tx.execute(endRequests, { numbers })
}

function reasonOf({ cancelReason }: Pick<Workflow, 'cancelReason'>): string {
  return cancelReason ?? EXIT_REASONS.allCancelled
}

/**
 * Cancels one execution. If it has ended already, it stays as it is.
 * @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND
 */
export async function cancelExecution(
  { store, now }: Pick<Base, 'store' | 'now'>,
  key: ExecutionKey,
): Promise<ExecutionRecord> {
  return store.write(async (tx) => {
    const { workflow, execution } = await loadExecution(tx, key)
    if (!isActiveExecution(shownStatus(execution, workflow)))
      return toExecutionRecord(execution, workflow)
    const cancellation = { id: workflow.id, cancelReason: EXIT_REASONS.cancelled }
    await cancelActive(tx, { workflow: cancellation, number: execution.number, at: now() })
    const cancelled = await loadExecution(tx, key)
    return toExecutionRecord(cancelled.execution, workflow)
  })
}
