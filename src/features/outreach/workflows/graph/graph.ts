/** The graph of a workflow as the engine walks it: steps by id, and the transitions that leave each. */

import { rowNumber } from '../../../../store/dialect.ts'
import { and, asc, eq, isNull } from '../../../../store/drizzle.ts'
import type { WaitOutcome } from '../../../../store/schema/words.ts'
import {
  type WorkflowTransition,
  workflowSteps,
  workflowTransitions,
} from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { TypedStep } from './step-config.ts'

type GraphTransition = Pick<
  WorkflowTransition,
  'id' | 'fromStepId' | 'toStepId' | 'condition' | 'waitOutcome' | 'priority'
>

export type WorkflowGraph = {
  steps: ReadonlyMap<string, TypedStep>
  /** The transitions by the step that they leave, in the order in which they are tried. */
  outgoing: ReadonlyMap<string, readonly GraphTransition[]>
}

/** The facts about the end of a step that decide which transition is followed. */
export type StepResult = { branch?: string; waitOutcome?: WaitOutcome }

/** Reads the graph of a workflow, without steps that were removed. */
export async function loadGraph(
  queries: Pick<Tx, 'select'>,
  workflowId: string,
): Promise<WorkflowGraph> {
  const steps = await queries
    .select({
      id: workflowSteps.id,
      type: workflowSteps.type,
      name: workflowSteps.name,
      config: workflowSteps.config,
      templateId: workflowSteps.templateId,
    })
    .from(workflowSteps)
    .where(and(eq(workflowSteps.workflowId, workflowId), isNull(workflowSteps.removedAt)))
    .orderBy(asc(workflowSteps.createdAt), rowNumber())
  const transitions = await queries
    .select({
      id: workflowTransitions.id,
      fromStepId: workflowTransitions.fromStepId,
      toStepId: workflowTransitions.toStepId,
      condition: workflowTransitions.condition,
      waitOutcome: workflowTransitions.waitOutcome,
      priority: workflowTransitions.priority,
    })
    .from(workflowTransitions)
    .where(eq(workflowTransitions.workflowId, workflowId))
    .orderBy(asc(workflowTransitions.priority), asc(workflowTransitions.createdAt), rowNumber())
  return toGraph(steps as TypedStep[], transitions)
}

function toGraph(
  steps: readonly TypedStep[],
  transitions: readonly GraphTransition[],
): WorkflowGraph {
  return {
    steps: new Map(steps.map((step) => [step.id, step])),
    outgoing: Map.groupBy(transitions, ({ fromStepId }) => fromStepId),
  }
}

/**
 * Returns the transition to follow after a step: the first whose branch and outcome
 * fit. A transition without either always fits.
 */
export function nextTransition(
  { outgoing }: Pick<WorkflowGraph, 'outgoing'>,
  stepId: string,
  { branch, waitOutcome }: StepResult,
): GraphTransition | undefined {
  return outgoing
    .get(stepId)
    ?.find(
      (each) =>
        (each.condition === null || each.condition.branch === branch) &&
        (each.waitOutcome === null || each.waitOutcome === waitOutcome),
    )
}
