/** Finds the graph of a workflow as people edit it. */
import { notFound } from '../../../../base/errors.ts'
import { rowNumber } from '../../../../store/dialect.ts'
import { and, asc, eq, inArray, isNull } from '../../../../store/drizzle.ts'
import { templates } from '../../../../store/schema/messages.ts'
import {
  type WorkflowStep,
  type WorkflowTransition,
  workflowSteps,
  workflowTransitions,
} from '../../../../store/schema/workflows.ts'
import type { Queries } from '../../../../store/write/transaction.ts'

/** The steps and transitions of a workflow, oldest first. Removed steps are left out. */
export type WorkflowDefinition = { steps: WorkflowStep[]; transitions: WorkflowTransition[] }

/** The template of a SEND_EMAIL step, with the domain that it is sent from. */
export type StepTemplate = { id: string; name: string; fromDomain: string }

export async function loadDefinition(
  queries: Queries,
  workflowId: string,
): Promise<WorkflowDefinition> {
  const steps = await queries
    .select()
    .from(workflowSteps)
    .where(and(eq(workflowSteps.workflowId, workflowId), isNull(workflowSteps.removedAt)))
    .orderBy(asc(workflowSteps.createdAt), rowNumber())
  const transitions = await queries
    .select()
    .from(workflowTransitions)
    .where(eq(workflowTransitions.workflowId, workflowId))
    .orderBy(asc(workflowTransitions.createdAt), rowNumber())
  return { steps, transitions }
}

/** Returns the templates of the steps by id; templates that were deleted are left out. */
export async function loadTemplatesOf(
  queries: Queries,
  projectId: string,
  steps: readonly Pick<WorkflowStep, 'templateId'>[],
): Promise<Map<string, StepTemplate>> {
  const ids = [...new Set(steps.flatMap(({ templateId }) => templateId ?? []))]
  if (ids.length === 0) return new Map()
  const rows = await queries
    .select({ id: templates.id, name: templates.name, fromDomain: templates.fromDomain })
    .from(templates)
    .where(and(eq(templates.projectId, projectId), inArray(templates.id, ids)))
  return new Map(rows.map((row) => [row.id, row]))
}

/** @throws AppError RESOURCE_NOT_FOUND for a step that the workflow does not have, or no longer */
export function requireStep(definition: WorkflowDefinition, id: string): WorkflowStep {
  const step = definition.steps.find((one) => one.id === id)
  if (step === undefined)
    throw notFound('workflow step', id, 'The workflow has no step of that id.')
  return step
}

/** @throws AppError RESOURCE_NOT_FOUND */
export function requireTransition(definition: WorkflowDefinition, id: string): WorkflowTransition {
  const transition = definition.transitions.find((one) => one.id === id)
  if (transition !== undefined) return transition
  throw notFound('workflow transition', id, 'The workflow has no transition of that id.')
}
