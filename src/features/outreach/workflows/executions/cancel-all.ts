/**
 * Cancels all active executions of a workflow: the workflow says up to which number they are
 * cancelled, and their rows follow (`settle-cancelled.ts`). They are counted as they are cancelled, so
 * a million takes many short transactions; each moves the number.
 */
import { indexedBy } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { workflows } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type Pace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import type { WorkflowNotifier } from '../notifier.ts'

type Deps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }

/** Executions that one transaction counts and cancels: 3 ms. */
export const CANCELLED_AT_ONCE = 20_000
const PACE: Pace = { rows: CANCELLED_AT_ONCE, rest: 'none' }

const findNewestNumber = statement<{ newest: number }>(
  () => sql`select coalesce(max(number), 0) as newest from workflow_executions`,
)

const isActiveBehind = sql`number > ${parameter('after')}`
const ofWorkflow = sql`workflow_executions ${indexedBy('workflow_executions_status')}
  where workflow_id = ${parameter('workflowId')}`

/** The next active executions, merged from two ranges of an index. `last`: the greatest number. */
const countActive = statement<{ count: number; last: number }>(
  () => sql`select count(*) as count, coalesce(max(number), 0) as last from (
    select number from ${ofWorkflow} and status = 'RUNNING' and ${isActiveBehind}
    union all select number from ${ofWorkflow} and status = 'WAITING' and ${isActiveBehind}
    order by number limit ${CANCELLED_AT_ONCE})`,
)

/**
 * Returns how many executions were active. Those of more than one transaction go on until theirs.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function cancelAllExecutions(deps: Deps, key: WorkflowKey): Promise<number> {
  let after = 0
  const rules = { pace: PACE, heavyFor: key.projectId, until: 'short' as const }
  return sweep(deps, rules, async (tx) => {
    const { count, last } = await cancelSome(deps, tx, { ...key, after })
    tx.afterCommit(() => {
      after = last
    })
    return count
  })
}

/** Cancels whatever is active, without counting it. */
export async function cancelAllInTx(
  deps: Pick<Deps, 'workflowNotifier'>,
  tx: Tx,
  cancellation: Omit<Cancellation, 'through'>,
): Promise<void> {
  const through = (await tx.find(findNewestNumber))?.newest ?? 0
  await cancelThrough(deps, tx, { ...cancellation, through })
}

/** Counts active executions, and cancels as many. */
async function cancelSome(
  deps: Deps,
  tx: Tx,
  { after, ...key }: WorkflowKey & { after: number },
): Promise<{ count: number; last: number }> {
  const { id, cancelledThrough } = await loadWorkflow(tx, key)
  const values = { workflowId: id, after: Math.max(after, cancelledThrough) }
  const { count, last } = (await tx.find(countActive, values)) ?? { count: 0, last: 0 }
  const reason = EXIT_REASONS.allCancelled
  if (count > 0) await cancelThrough(deps, tx, { id, reason, through: last, at: deps.now() })
  return { count, last }
}

/** `through`: the number of the last execution. */
type Cancellation = { id: string; reason: string; through: number; at: number }

async function cancelThrough(
  { workflowNotifier }: Pick<Deps, 'workflowNotifier'>,
  tx: Tx,
  { id, reason, through, at }: Cancellation,
): Promise<void> {
  await tx
    .update(workflows)
    .set({ cancelledThrough: through, cancelReason: reason, cancelledAt: at, isCancelling: true })
    .where(eq(workflows.id, id))
  tx.afterCommit(() => workflowNotifier.notify({ kind: 'cancelled' }))
}
