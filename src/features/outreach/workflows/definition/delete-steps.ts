/**
 * Removes steps from the graph. Their rows stay, hidden, for the history of executions. Executions
 * that stand at such a step are cancelled with the reason "step removed". In an enabled workflow
 * the caller has refused the edit if there are such executions.
 */
import { inArray, or } from '../../../../store/drizzle.ts'
import {
  type Workflow,
  workflowSteps,
  workflowTransitions,
} from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { cancelActive } from '../executions/cancel-active.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import { loadWorkflow, type WorkflowKey } from '../workflow.ts'
import { listActiveAt } from './active.ts'

/** One transaction cancels at most this many executions, in about 50 ms. */
const MAX_CANCELLED = 500
const PACE: SweepPace = { rows: MAX_CANCELLED, rest: 'none' }

/**
 * The error when more executions stand at the steps than one transaction can cancel:
 * `cancelAtSteps` cancels most of them first.
 */
export class CrowdedSteps extends Error {
  override readonly name = 'CrowdedSteps'
  readonly stepIds: readonly string[]
  /** The version of the workflow for which the steps were to be deleted. */
  readonly version: number

  constructor(stepIds: readonly string[], version: number) {
    super('Too many executions stand at the steps for one transaction.')
    this.stepIds = stepIds
    this.version = version
  }
}

/** @throws CrowdedSteps */
export async function deleteGraphSteps(
  tx: Tx,
  workflow: Workflow,
  { stepIds, at }: { stepIds: readonly string[]; at: number },
): Promise<void> {
  if (stepIds.length === 0) return
  const numbers = await listActiveAt(tx, workflow, { stepIds, limit: MAX_CANCELLED + 1 })
  if (numbers.length > MAX_CANCELLED) throw new CrowdedSteps(stepIds, workflow.version)
  await cancelEach(tx, workflow, { numbers, at })
  await tx.update(workflowSteps).set({ removedAt: at }).where(inArray(workflowSteps.id, stepIds))
  await tx
    .delete(workflowTransitions)
    .where(
      or(
        inArray(workflowTransitions.fromStepId, stepIds),
        inArray(workflowTransitions.toStepId, stepIds),
      ),
    )
}

/**
 * Cancels executions at the steps in short transactions, until `deleteGraphSteps` can cancel the
 * rest, and returns how many. Stops when the version of the workflow changes, as it also does when
 * the workflow is enabled.
 */
export async function cancelAtSteps(
  deps: Pick<Base, 'store' | 'now'>,
  key: WorkflowKey,
  { stepIds, version }: Pick<CrowdedSteps, 'stepIds' | 'version'>,
): Promise<number> {
  const rules = { pace: PACE, heavyFor: key.projectId, until: 'short' as const }
  return sweep(deps, rules, async (tx, limit) => {
    const workflow = await loadWorkflow(tx, key)
    if (workflow.version !== version) return 0
    const numbers = await listActiveAt(tx, workflow, { stepIds, limit })
    await cancelEach(tx, workflow, { numbers, at: deps.now() })
    return numbers.length
  })
}

async function cancelEach(
  tx: Tx,
  { id }: Workflow,
  { numbers, at }: { numbers: readonly number[]; at: number },
): Promise<void> {
  const workflow = { id, cancelReason: EXIT_REASONS.stepRemoved }
  for (const number of numbers) {
    await cancelActive(tx, { workflow, number, at })
    await tx.yieldToLoop()
  }
}
