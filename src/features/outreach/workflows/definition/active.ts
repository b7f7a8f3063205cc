/**
 * The active executions of a workflow: RUNNING or WAITING, and not cancelled with all others. Each
 * query reads a range of an index, however many executions there are.
 */
import { AppError } from '../../../../base/errors.ts'
import { indexedBy, listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

type ActiveQueries = Pick<Tx, 'find'>
type Counted = Pick<Workflow, 'id' | 'cancelledThrough'>

const findActive = statement<{ number: number }>(
  () => sql`select number from workflow_executions
      where workflow_id = ${parameter('workflowId')} and status = 'RUNNING'
        and number > ${parameter('after')}
    union all select number from workflow_executions
      where workflow_id = ${parameter('workflowId')} and status = 'WAITING'
        and number > ${parameter('after')}
    limit 1`,
)

const listStanding = statement<{ number: number }>(
  () => sql`select number from workflow_executions ${indexedBy('workflow_executions_place')}
    where workflow_id = ${parameter('workflowId')}
      and current_step_id in ${listOf(parameter('stepIds'))}
      and status in ('RUNNING', 'WAITING') and number > ${parameter('after')}
    limit ${parameter('limit')}`,
)

export async function hasActive(
  queries: ActiveQueries,
  { id: workflowId, cancelledThrough: after }: Counted,
): Promise<boolean> {
  return (await queries.find(findActive, { workflowId, after })) !== undefined
}

/** Returns the numbers of at most `limit` active executions that stand at one of the steps. */
export async function listActiveAt(
  queries: Pick<Tx, 'list'>,
  { id: workflowId, cancelledThrough: after }: Counted,
  { stepIds, limit }: { stepIds: Iterable<string>; limit: number },
): Promise<number[]> {
  const values = { workflowId, stepIds: JSON.stringify([...stepIds]), after, limit }
  return (await queries.list(listStanding, values)).map(({ number }) => number)
}

/**
 * Refuses a change that active executions of an enabled workflow depend on.
 * @throws AppError CONFLICT
 */
export async function refuseActive(
  tx: ActiveQueries,
  workflow: Workflow,
  what: 'the trigger' | 'the config or template of a step',
): Promise<void> {
  if (!workflow.isEnabled || !(await hasActive(tx, workflow))) return
  throw inUse(workflow, `While executions are active, ${what} cannot change.`)
}

/** @throws AppError CONFLICT if the workflow is enabled and executions stand at one of the steps */
export async function refuseActiveAt(
  tx: Pick<Tx, 'list'>,
  workflow: Workflow,
  stepIds: Iterable<string>,
): Promise<void> {
  if (!workflow.isEnabled) return
  const found = await listActiveAt(tx, workflow, { stepIds, limit: 1 })
  if (found.length > 0) throw inUse(workflow, 'Executions stand at these steps or after them.')
}

function inUse({ id }: Workflow, text: string): AppError {
  return new AppError('CONFLICT', text, {
    details: { resource: 'workflow', id },
    suggestion: 'Disable the workflow, or wait until its executions have ended.',
  })
}
