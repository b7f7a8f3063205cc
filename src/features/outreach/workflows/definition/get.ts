import type { WorkflowDetail } from '../../../../records/workflow.ts'
import type { Base } from '../../../ground/base.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import { loadDetail, type Viewer } from './view.ts'

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function getWorkflow(
  { store }: Pick<Base, 'store'>,
  key: WorkflowKey & Viewer,
): Promise<WorkflowDetail> {
  return loadDetail(store.read, await loadWorkflow(store.read, key), key)
}
