/** Removes a step from the graph: with all that follows, or only the step (`splice`). */
import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type WorkflowStep, workflowTransitions } from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { reachableFrom } from '../graph/structure.ts'
import { refuseActiveAt } from './active.ts'
import { type Edit, type EditDeps, editWorkflow, saveVersion } from './edit.ts'
import { type Definition, loadDefinition, requireStep } from './find.ts'
import { removeSteps } from './remove-steps.ts'

/** Steps with several ways on, so that there is no single step to lead to in their place. */
const NOT_SPLICED: readonly string[] = ['TRIGGER', 'CONDITION', 'WAIT_FOR_EVENT']

/**
 * With `splice`, the steps before lead to the step after it.
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (step); BAD_REQUEST for a step of a type that
 *   cannot be removed so; CONFLICT while the workflow is enabled and executions stand at what would be
 *   removed, and with status 412 for another version
 */
export async function deleteStep(
  deps: EditDeps,
  { stepId, splice, ...edit }: Edit & { stepId: string; splice: boolean },
): Promise<void> {
  await editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    const step = requireStep(definition, stepId)
    requireRemovable(step, splice)
    const removed = splice ? [stepId] : [...reachableFrom([stepId], definition.transitions)]
    await refuseActiveAt(tx, workflow, removed)
    const at = deps.now()
    if (splice) await bypass(tx, definition, { stepId, at })
    await removeSteps(tx, workflow, { stepIds: removed, at })
    await saveVersion(tx, workflow, { at })
  })
}

export function canSplice({ type }: Pick<WorkflowStep, 'type'>): boolean {
  return !NOT_SPLICED.includes(type)
}

function requireRemovable(step: WorkflowStep, splice: boolean): void {
  if (step.type === 'TRIGGER') throw new AppError('BAD_REQUEST', 'A TRIGGER cannot be removed.')
  if (!splice || canSplice(step)) return
  throw new AppError('BAD_REQUEST', `A ${step.type} has several ways on, so none can replace it.`, {
    suggestion: 'Remove the step without splice, which removes all that follows too.',
  })
}

async function bypass(
  tx: Tx,
  { transitions }: Definition,
  { stepId, at }: { stepId: string; at: number },
): Promise<void> {
  const after = transitions.find(({ fromStepId }) => fromStepId === stepId)
  if (after === undefined) return
  await tx
    .update(workflowTransitions)
    .set({ toStepId: after.toStepId, updatedAt: at })
    .where(eq(workflowTransitions.toStepId, stepId))
}
