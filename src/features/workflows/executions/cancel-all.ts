/**
 * Cancels all active executions of a workflow at once: the workflow says up to which number they are
 * cancelled, and their rows follow (`settle-cancelled.ts`).
 */
import { indexedBy } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import type { Workflow } from '../../../store/schema/workflows.ts'
import { workflows } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import type { WorkflowNotifier } from '../notifier.ts'

type Deps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }

/** Executions that are counted between two turns of the event loop: 3 ms. */
export const COUNTED_AT_ONCE = 50_000

const findNewestNumber = statement<{ newest: number }>(
  () => sql`select coalesce(max(number), 0) as newest from workflow_executions`,
)

/** `last`: the greatest of the counted numbers. */
const countActive = statement<{ count: number; last: number | null }>(
  () => sql`select count(*) as count, max(number) as last from (
    select number from workflow_executions ${indexedBy('workflow_executions_status')}
    where workflow_id = ${parameter('workflowId')} and status = ${parameter('status')}
      and number > ${parameter('after')}
    order by number limit ${COUNTED_AT_ONCE})`,
)

/** Returns how many executions were active. @throws AppError WORKFLOW_NOT_FOUND */
export async function cancelAllExecutions(deps: Deps, key: WorkflowKey): Promise<number> {
  const { store, now } = deps
  return store.write(
    async (tx) => {
      const workflow = await loadWorkflow(tx, key)
      const cancelled = await countAllActive(tx, workflow)
      if (cancelled > 0)
        await cancelAllInTx(deps, tx, { id: key.id, reason: EXIT_REASONS.allCancelled, at: now() })
      return cancelled
    },
    { heavyFor: key.projectId },
  )
}

/** Cancels whatever is active, without counting it. */
export async function cancelAllInTx(
  { workflowNotifier }: Pick<Deps, 'workflowNotifier'>,
  tx: Tx,
  { id, reason, at }: { id: string; reason: string; at: number },
): Promise<void> {
  const cancelledThrough = (await tx.find(findNewestNumber))?.newest ?? 0
  await tx
    .update(workflows)
    .set({ cancelledThrough, cancelReason: reason, cancelledAt: at, isCancelling: true })
    .where(eq(workflows.id, id))
  tx.afterCommit(() => workflowNotifier.notify({ kind: 'cancelled' }))
}

async function countAllActive(
  tx: Tx,
  { id: workflowId, cancelledThrough }: Pick<Workflow, 'id' | 'cancelledThrough'>,
): Promise<number> {
  let total = 0
  for (const status of ['RUNNING', 'WAITING']) {
    let after: number | null = cancelledThrough
    while (after !== null) {
      const found: { count: number; last: number | null } | undefined = await tx.find(countActive, {
        workflowId,
        status,
        after,
      })
      total += found?.count ?? 0
      after = found?.count === COUNTED_AT_ONCE ? found.last : null
      await tx.yieldToLoop()
    }
  }
  return total
}
