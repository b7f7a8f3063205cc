/** Workflows as the API returns them. */

import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type {
  StepRecord,
  TransitionRecord,
  WorkflowDetail,
  WorkflowRecord,
} from '../../../../records/workflow.ts'
import type {
  Workflow,
  WorkflowStep,
  WorkflowTransition,
} from '../../../../store/schema/workflows.ts'
import type { Queries } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { maskConfig } from '../graph/secret-headers.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import { type Definition, loadDefinition, loadTemplatesOf, type StepTemplate } from './find.ts'

/** Whether the caller sees secrets. If not, headers that authenticate requests are masked. */
export type Viewer = { seesSecrets?: boolean | undefined }

export function toWorkflowRecord(workflow: Workflow): WorkflowRecord {
  return {
    id: workflow.id,
    name: workflow.name,
    description: workflow.description,
    enabled: workflow.isEnabled,
    triggerType: workflow.triggerType,
    triggerConfig: workflow.triggerConfig,
    allowReentry: workflow.allowsReentry,
    version: workflow.version,
    nextFireAt: formatOptionalInstant(workflow.nextFireAt),
    projectId: workflow.projectId,
    createdAt: formatInstant(workflow.createdAt),
    updatedAt: formatInstant(workflow.updatedAt),
  }
}

/** Reads the graph of a workflow and shows both. */
export async function loadDetail(
  queries: Queries,
  workflow: Workflow,
  viewer: Viewer,
): Promise<WorkflowDetail> {
  const definition = await loadDefinition(queries, workflow.id)
  return { ...toWorkflowRecord(workflow), steps: await toStepRecords(queries, definition, viewer) }
}

/** A step among its neighbours. */
export async function viewStep(
  queries: Queries,
  { workflowId, stepId }: { workflowId: string; stepId: string },
  viewer: Viewer,
): Promise<StepRecord> {
  const { steps, transitions } = await loadDefinition(queries, workflowId)
  const own = steps.filter(({ id }) => id === stepId)
  const [view] = await toStepRecords(queries, { steps: own, transitions }, viewer)
  if (view === undefined) throw new TypeError('The step was removed in the same transaction.')
  return view
}

export function toTransitionRecord(transition: WorkflowTransition): TransitionRecord {
  const { id, fromStepId, toStepId, condition, waitOutcome, priority } = transition
  return {
    ...{ id, fromStepId, toStepId, condition, waitOutcome, priority },
    createdAt: formatInstant(transition.createdAt),
    updatedAt: formatInstant(transition.updatedAt),
  }
}

async function toStepRecords(
  queries: Queries,
  { steps, transitions }: Definition,
  viewer: Viewer,
): Promise<StepRecord[]> {
  const templates = await loadTemplatesOf(queries, steps[0]?.projectId ?? '', steps)
  const views = transitions.map(toTransitionRecord)
  const [outgoing, incoming] = [
    Map.groupBy(views, ({ fromStepId }) => fromStepId),
    Map.groupBy(views, ({ toStepId }) => toStepId),
  ]
  return steps.map((step) => ({
    id: step.id,
    workflowId: step.workflowId,
    type: step.type,
    name: step.name,
    position: step.position,
    config: shownConfig(step, viewer),
    templateId: step.templateId,
    template: shownTemplate(templates.get(step.templateId ?? '')),
    outgoingTransitions: outgoing.get(step.id) ?? [],
    incomingTransitions: incoming.get(step.id) ?? [],
    createdAt: formatInstant(step.createdAt),
    updatedAt: formatInstant(step.updatedAt),
  }))
}

/** Returns the config to show. Older clients read the template of a SEND_EMAIL from it. */
function shownConfig(
  { type, config, templateId }: WorkflowStep,
  { seesSecrets = false }: Viewer,
): Record<string, unknown> {
  if (type === 'WEBHOOK') return seesSecrets ? config : maskConfig(config)
  return type === 'SEND_EMAIL' && templateId !== null ? { ...config, templateId } : config
}

function shownTemplate(template: StepTemplate | undefined) {
  return template === undefined ? null : { id: template.id, name: template.name }
}

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function loadWorkflowDetail(
  { store }: Pick<Base, 'store'>,
  key: WorkflowKey & Viewer,
): Promise<WorkflowDetail> {
  return loadDetail(store.read, await loadWorkflow(store.read, key), key)
}
