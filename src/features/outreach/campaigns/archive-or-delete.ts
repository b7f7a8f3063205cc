/**
 * Archives and deletes campaigns. The list leaves archived campaigns out unless a query asks for them; only
 * drafts can be deleted.
 */
import { AppError, invalidField } from '../../../base/errors.ts'
import type { CampaignRecord } from '../../../records/campaign.ts'
import { MAX_IDS_PER_REQUEST } from '../../../records/limits.ts'
import { and, eq, inArray } from '../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import {
  type CampaignKey,
  campaignNotFound,
  loadCampaign,
  toCampaignRecord,
  wrongStatus,
} from './campaign.ts'

/** Suggestions for a campaign that is no draft. */
const CANCEL = 'Cancel the campaign with POST /campaigns/:id/cancel first.'

const ARCHIVE = 'Archive the campaign with POST /campaigns/:id/archive.'

type BulkUpdate = {
  projectId: string
  ids: readonly string[]
  delete?: boolean | undefined
}

/**
 * Archives a campaign, or takes it out of the archive. The call may be repeated.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST (it is scheduled or being sent)
 */
export async function archiveCampaign(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { isArchived, ...key }: CampaignKey & { isArchived: boolean },
): Promise<CampaignRecord> {
  return store.write(async (tx) => {
    const campaign = await loadCampaign(tx, key)
    const { id, status } = campaign
    if (!mayBeArchived(status)) {
      const verb = isArchived ? 'archived' : 'taken out of the archive'
      throw wrongStatus(status, `be ${verb}`)
    }
    const at = now()
    if (isArchived === (campaign.archivedAt !== null)) return toCampaignRecord(campaign, at)
    const archivedAt = isArchived ? at : null
    await tx.update(campaigns).set({ archivedAt, updatedAt: at }).where(eq(campaigns.id, id))
    return toCampaignRecord(await loadCampaign(tx, key), at)
  })
}

/** Deletes a campaign in status DRAFT. @throws AppError CAMPAIGN_NOT_FOUND, CONFLICT */
export async function deleteCampaign(
  { store }: Pick<Base, 'store'>,
  key: CampaignKey,
): Promise<void> {
  await store.write(async (tx) => deleteDraft(tx, await loadCampaign(tx, key)))
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

/** @throws AppError CONFLICT unless the campaign is a draft */
async function deleteDraft(tx: Tx, { id, status }: Pick<Campaign, 'id' | 'status'>): Promise<void> {
  if (status !== 'DRAFT') {
    throw new AppError('CONFLICT', `A campaign that is ${status} cannot be deleted.`, {
      details: { resource: 'campaign', id, status },
      suggestion: mayBeArchived(status) ? ARCHIVE : `${CANCEL} ${ARCHIVE}`,
    })
  }
  await tx.delete(campaigns).where(eq(campaigns.id, id))
}

function mayBeArchived(status: Campaign['status']): boolean {
  return status !== 'SCHEDULED' && status !== 'SENDING'
}
