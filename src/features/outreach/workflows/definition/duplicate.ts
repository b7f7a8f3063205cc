import type { WorkflowDetail } from '../../../../records/workflow.ts'
import { newId } from '../../../../store/ids.ts'
import { workflows } from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { copyName } from '../../../ground/copy-name.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import { loadDefinition } from './find.ts'
import { insertEdges, insertSteps } from './step-rows.ts'
import { loadDetail, type Viewer } from './view.ts'

/** Returns the copy: disabled, without executions. @throws AppError WORKFLOW_NOT_FOUND */
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

/** Waits and conditions may name a step of the workflow. */
function withStepId(config: Record<string, unknown>, idOf: (stepId: string) => string) {
  const { stepId } = config
  return typeof stepId === 'string' ? { ...config, stepId: idOf(stepId) } : config
}
