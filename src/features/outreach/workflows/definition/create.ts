/** Creates workflows: new ones with their TRIGGER, and copies of others. Both are disabled. */
import { MAX_NAME_LENGTH } from '../../../../records/limits.ts'
import type { WorkflowDetail } from '../../../../records/workflow.ts'
import { newId } from '../../../../store/ids.ts'
import { workflows } from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { copyName } from '../../../ground/copy-name.ts'
import type { ReportUnknown } from '../graph/parse-config.ts'
import { loadWorkflow, type WorkflowKey } from '../workflow.ts'
import { loadDefinition } from './find.ts'
import { insertEdges, insertSteps } from './step-rows.ts'
import { newEventTrigger, triggerStepConfig } from './trigger.ts'
import { loadDetail, type Viewer } from './view.ts'

type NewWorkflow = {
  projectId: string
  name: string
  eventName: string
  /** The other fields of `triggerConfig`. */
  triggerOptions?: Record<string, unknown> | undefined
  description?: string | null | undefined
  allowReentry?: boolean | undefined
  /** Called with the unknown names in the config (see `GraphEdit`). */
  report?: ReportUnknown | undefined
}

const TRIGGER_POSITION = { x: 100, y: 100 }

/** Creates a workflow, disabled, with its TRIGGER. @throws AppError VALIDATION_ERROR */
export async function createWorkflow(
  { store, now }: Pick<Base, 'store' | 'now'>,
  workflow: NewWorkflow,
): Promise<WorkflowDetail> {
  const { projectId, name, eventName, triggerOptions, description = null } = workflow
  const { allowReentry = false } = workflow
  const at = now()
  const id = newId()
  const trigger = newEventTrigger(eventName, triggerOptions, workflow.report)
  return store.write(async (tx) => {
    await tx.insert(workflows).values({
      ...{ id, projectId, name, description, ...trigger, allowsReentry: allowReentry },
      ...{ createdAt: at, updatedAt: at },
    })
    const step = {
      id: newId(),
      type: 'TRIGGER' as const,
      name: triggerStepName(eventName),
      position: TRIGGER_POSITION,
      config: triggerStepConfig(trigger),
      templateId: null,
    }
    await insertSteps(tx, { id, projectId }, { rows: [step], at })
    return loadDetail(tx, await loadWorkflow(tx, { projectId, id }), {})
  })
}

/** Copies a workflow without its executions, and returns the copy. @throws AppError WORKFLOW_NOT_FOUND */
export async function duplicateWorkflow(
  { store, now }: Pick<Base, 'store' | 'now'>,
  key: WorkflowKey & Viewer,
): Promise<WorkflowDetail> {
  const copy = async (tx: Tx) => {
    const original = await loadWorkflow(tx, key)
    const { steps, transitions } = await loadDefinition(tx, original.id)
    const [id, at] = [newId(), now()]
    const { projectId, triggerType, triggerConfig, triggerEvent, segmentId } = original
    const { description, allowsReentry } = original
    await tx.insert(workflows).values({
      ...{ id, projectId, name: copyName(original.name), description, allowsReentry },
      ...{ triggerType, triggerConfig, triggerEvent, segmentId, createdAt: at, updatedAt: at },
    })
    const newIds = new Map(steps.map((step) => [step.id, newId()]))
    const idOf = (stepId: string) => newIds.get(stepId) ?? stepId
    const rows = steps.map((step) => ({
      ...step,
      id: idOf(step.id),
      config: withStepId(step.config, idOf),
    }))
    await insertSteps(tx, { id, projectId }, { rows, at })
    const edges = transitions.map((edge) => ({
      ...edge,
      ...{ id: newId(), fromStepId: idOf(edge.fromStepId), toStepId: idOf(edge.toStepId) },
    }))
    await insertEdges(tx, id, { rows: edges, at })
    return loadDetail(tx, await loadWorkflow(tx, { projectId, id }), key)
  }
  return store.write(copy, { heavyFor: key.projectId })
}

/** Returns the name of a TRIGGER step: the name of its event, cut to the longest name of a step. */
export function triggerStepName(eventName: string): string {
  return eventName.slice(0, MAX_NAME_LENGTH).toWellFormed()
}

/** Replaces the id of the step that a wait or a condition may name. */
function withStepId(config: Record<string, unknown>, idOf: (stepId: string) => string) {
  const { stepId } = config
  return typeof stepId === 'string' ? { ...config, stepId: idOf(stepId) } : config
}
