import { invalidField } from '../../../base/errors.ts'
import { MAX_IDS_PER_REQUEST } from '../../../records/limits.ts'
import { and, eq, inArray } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import type { Base } from '../../ground/base.ts'
import { deleteDraft } from './delete.ts'
import { campaignNotFound } from './find.ts'

type BulkUpdate = {
  projectId: string
  ids: readonly string[]
  delete?: boolean | undefined
}

/**
 * Deletes all of the drafts or none. Deletion is the only change that exists.
 * @throws AppError VALIDATION_ERROR; CAMPAIGN_NOT_FOUND when the project lacks one of them; CONFLICT
 *   when one is not a draft
 */
export async function bulkUpdateCampaigns(
  { store }: Pick<Base, 'store'>,
  { projectId, ids, delete: isDelete = false }: BulkUpdate,
): Promise<{ deleted: number } | { updated: 0 }> {
  if (ids.length === 0) throw invalidField('ids', 'too_small', 'At least one id is needed')
  if (ids.length > MAX_IDS_PER_REQUEST) {
    throw invalidField('ids', 'too_big', `At most ${MAX_IDS_PER_REQUEST} ids`)
  }
  const wanted = [...new Set(ids)]
  return store.write(async (tx) => {
    const rows = await tx
      .select({ id: campaigns.id, status: campaigns.status })
      .from(campaigns)
      .where(and(eq(campaigns.projectId, projectId), inArray(campaigns.id, wanted)))
    const known = new Set(rows.map(({ id }) => id))
    const missing = wanted.find((id) => !known.has(id))
    if (missing !== undefined) throw campaignNotFound(missing)
    if (!isDelete) return { updated: 0 }
    for (const row of rows) await deleteDraft(tx, row)
    return { deleted: rows.length }
  })
}
