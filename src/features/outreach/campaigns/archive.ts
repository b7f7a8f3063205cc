/** Archives campaigns: an archived campaign is left out of the list unless it is asked for. */
import type { CampaignRecord } from '../../../records/campaign.ts'
import { eq } from '../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../store/schema/campaigns.ts'
import type { Base } from '../../ground/base.ts'
import { type CampaignKey, loadCampaign } from './find.ts'
import { toCampaignRecord } from './view.ts'
import { wrongStatus } from './wrong-status.ts'

/**
 * Archives a campaign, or takes it back. One that is so already stays as it is.
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

export function mayBeArchived(status: Campaign['status']): boolean {
  return status !== 'SCHEDULED' && status !== 'SENDING'
}
