import { MAX_NAME_LENGTH } from '../../../../records/limits.ts'
import type { WorkflowDetail } from '../../../../records/workflow.ts'
import { newId } from '../../../../store/ids.ts'
import { workflows } from '../../../../store/schema/workflows.ts'
import type { Base } from '../../../ground/base.ts'
import type { ReportUnknown } from '../graph/parse-config.ts'
import { loadWorkflow } from '../load-workflow.ts'
import { insertSteps } from './step-rows.ts'
import { newEventTrigger, triggerStepConfig } from './trigger.ts'
import { loadDetail } from './view.ts'

export type NewWorkflow = {
  projectId: string
  name: string
  eventName: string
  /** The other fields of `triggerConfig`. */
  triggerOptions?: Record<string, unknown> | undefined
  description?: string | null | undefined
  allowReentry?: boolean | undefined
  /** As in `Edit`. */
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

/** The name of the event, as far as it fits. */
export function triggerStepName(eventName: string): string {
  return eventName.slice(0, MAX_NAME_LENGTH).toWellFormed()
}
