import { invalidField } from '../../../base/errors.ts'
import { MAX_IDS_PER_REQUEST } from '../../../records/limits.ts'
import { and, eq, inArray } from '../../../store/drizzle.ts'
import { templates } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'
import { requireUnused } from './usage.ts'
import { templateNotFound } from './view.ts'

type BulkUpdate = {
  projectId: string
  ids: readonly string[]
  delete?: boolean | undefined
}

/**
 * Deletes all of the templates or none. Deletion is the only change that exists.
 * @throws AppError VALIDATION_ERROR; TEMPLATE_NOT_FOUND when the project lacks one of them;
 *   CONFLICT while a workflow uses one of them
 */
export async function bulkUpdateTemplates(
  deps: Pick<Base, 'store' | 'directory' | 'duties'>,
  { projectId, ids, delete: isDelete = false }: BulkUpdate,
): Promise<{ deleted: number } | { updated: 0 }> {
  const { store, directory } = deps
  if (ids.length === 0) throw invalidField('ids', 'too_small', 'At least one id is needed')
  if (ids.length > MAX_IDS_PER_REQUEST)
    throw invalidField('ids', 'too_big', `At most ${MAX_IDS_PER_REQUEST} ids`)
  const wanted = [...new Set(ids)]
  return store.write(async (tx) => {
    const isRequested = and(eq(templates.projectId, projectId), inArray(templates.id, wanted))
    const rows = await tx.select({ id: templates.id }).from(templates).where(isRequested)
    const known = new Set(rows.map(({ id }) => id))
    const missing = wanted.find((id) => !known.has(id))
    if (missing !== undefined) throw templateNotFound(missing)
    if (!isDelete) return { updated: 0 }
    for (const id of wanted) await requireUnused(deps, tx, { projectId, id })
    await tx.delete(templates).where(isRequested)
    tx.afterCommit(directory.drop)
    return { deleted: wanted.length }
  })
}
