import { invalidField } from '../../../../base/errors.ts'
import { MAX_IDS_PER_REQUEST } from '../../../../records/limits.ts'
import { and, eq, inArray, isNull } from '../../../../store/drizzle.ts'
import { type Workflow, workflows } from '../../../../store/schema/workflows.ts'
import { workflowNotFound } from '../load-workflow.ts'
import { type DeletionDeps, deleteAll } from './delete.ts'
import type { Queries } from './find.ts'

type BulkUpdate = {
  projectId: string
  ids: readonly string[]
  delete?: boolean | undefined
}

/**
 * Deletes all of the workflows or none. Deletion is the only change that exists.
 * @throws AppError VALIDATION_ERROR; WORKFLOW_NOT_FOUND when the project lacks one of them; CONFLICT
 *   while executions of one are active
 */
export async function bulkUpdateWorkflows(
  deps: DeletionDeps,
  { projectId, ids, delete: isDelete = false }: BulkUpdate,
): Promise<{ deleted: number } | { updated: 0 }> {
  if (ids.length === 0) throw invalidField('ids', 'too_small', 'At least one id is needed')
  if (ids.length > MAX_IDS_PER_REQUEST) {
    throw invalidField('ids', 'too_big', `At most ${MAX_IDS_PER_REQUEST} ids`)
  }
  const find = (queries: Queries) => findAll(queries, { projectId, ids: [...new Set(ids)] })
  if (isDelete) return { deleted: await deleteAll(deps, { projectId, find }) }
  await find(deps.store.read)
  return { updated: 0 }
}

async function findAll(
  queries: Queries,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<Workflow[]> {
  const rows = await queries
    .select()
    .from(workflows)
    .where(
      and(
        eq(workflows.projectId, projectId),
        inArray(workflows.id, [...ids]),
        isNull(workflows.deletedAt),
      ),
    )
  const known = new Set(rows.map(({ id }) => id))
  const missing = ids.find((id) => !known.has(id))
  if (missing !== undefined) throw workflowNotFound(missing)
  return rows
}
