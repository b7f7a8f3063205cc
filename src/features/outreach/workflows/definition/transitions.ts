/** Adds and removes single transitions. */
import type { TransitionRecord } from '../../../../records/workflow.ts'
import { eq } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { workflowTransitions } from '../../../../store/schema/workflows.ts'
import { type Edge, reachableFrom, requireNewEdge } from '../graph/structure.ts'
import { refuseActiveAt } from './active.ts'
import { type Edit, type EditDeps, editWorkflow, saveVersion } from './edit.ts'
import { loadDefinition, requireStep, requireTransition } from './find.ts'
import { insertEdges, requireRoom } from './step-rows.ts'
import { toTransitionRecord } from './view.ts'

export type NewTransition = Edge & { priority: number }

/**
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (steps); BAD_REQUEST for a breach of the
 *   structure; CONFLICT with status 412 for another version
 */
export async function addTransition(
  deps: EditDeps,
  { transition, ...edit }: Edit & { transition: NewTransition },
): Promise<TransitionRecord> {
  return editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    requireStep(definition, transition.fromStepId)
    requireStep(definition, transition.toStepId)
    requireRoom(definition, 'transition')
    const steps = new Map(definition.steps.map((step) => [step.id, step]))
    requireNewEdge(steps, definition.transitions, transition)
    const [id, at] = [newId(), deps.now()]
    await insertEdges(tx, workflow.id, { rows: [{ ...transition, id }], at })
    await saveVersion(tx, workflow, { at })
    const row = { ...transition, id, workflowId: workflow.id, createdAt: at, updatedAt: at }
    return toTransitionRecord(row)
  })
}

/**
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (transition); CONFLICT while the workflow is
 *   enabled and executions stand after the transition, and with status 412 for another version
 */
export async function deleteTransition(
  deps: EditDeps,
  { transitionId, ...edit }: Edit & { transitionId: string },
): Promise<void> {
  await editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    const { id, toStepId } = requireTransition(definition, transitionId)
    await refuseActiveAt(tx, workflow, reachableFrom([toStepId], definition.transitions))
    await tx.delete(workflowTransitions).where(eq(workflowTransitions.id, id))
    await saveVersion(tx, workflow, { at: deps.now() })
  })
}
