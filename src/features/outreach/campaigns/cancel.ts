/**
 * Cancels a campaign. Contacts that it has not reached get no email. Mail that waits fails behind
 * the answer (`settle-stopped.ts`); what is claimed is taken back unless its content is on its way.
 */
import type { CampaignRecord } from '../../../records/campaign.ts'
import { eq } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import type { Base } from '../../ground/base.ts'
import { appendCampaignEvent } from './append-event.ts'
import { type CampaignKey, loadCampaign } from './find.ts'
import { type StopDeps, wakeLoops } from './pause.ts'
import { toCampaignRecord } from './view.ts'
import { wrongStatus } from './wrong-status.ts'

/** @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST (it is neither scheduled nor being sent) */
export async function cancelCampaign(
  deps: StopDeps & Pick<Base, 'store'>,
  key: CampaignKey,
): Promise<CampaignRecord> {
  return deps.store.write(async (tx) => {
    const campaign = await loadCampaign(tx, key)
    const { id, status } = campaign
    if (status !== 'SCHEDULED' && status !== 'SENDING') {
      throw wrongStatus(status, 'be cancelled')
    }
    const at = deps.now()
    const running = { pausedAt: null, pauseReason: null, pauseDetails: null }
    const totalRecipients = campaign.progress?.rowsMade ?? 0
    await tx
      .update(campaigns)
      .set({ ...running, status: 'CANCELLED', totalRecipients, cancelledAt: at, updatedAt: at })
      .where(eq(campaigns.id, id))
    await appendCampaignEvent(tx, 'campaign.cancelled', { campaign, at })
    tx.afterCommit(() => wakeLoops(deps))
    return toCampaignRecord(await loadCampaign(tx, key), at)
  })
}
