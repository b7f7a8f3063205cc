/**
 * Resumes a campaign: its mail is due as it was before, with a later give-up time. Under `maxPerHour`,
 * what was not tried yet gets new slots. A scheduled campaign that a fence has paused will be sent at its
 * time, or now if that has passed. A fence does not stop people from resuming one of its campaigns.
 */
import type { CampaignRecord } from '../../../records/campaign.ts'
import { eq } from '../../../store/drizzle.ts'
import { campaignProgress, campaigns } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { refuseAtLimit } from '../../ground/usage/count.ts'
import { requireSender } from '../../mail/templates/validate.ts'
import { appendCampaignEvent } from './append-event.ts'
import { type CampaignKey, type FoundCampaign, loadCampaign } from './find.ts'
import { type StopDeps, wakeLoops } from './pause.ts'
import { restartPace } from './sending/pace.ts'
import { usageCategoryOf } from './usage-category.ts'
import { toCampaignRecord } from './view.ts'
import { wrongStatus } from './wrong-status.ts'

type ResumeDeps = StopDeps & Pick<Base, 'store' | 'config'>

/**
 * A campaign that is not paused stays as it is.
 * @throws AppError CAMPAIGN_NOT_FOUND; BAD_REQUEST (it is neither being sent nor held); FORBIDDEN (sender domain);
 *   BILLING_LIMIT_EXCEEDED (it has emails to make, and its project may send no more)
 */
export async function resumeCampaign(deps: ResumeDeps, key: CampaignKey): Promise<CampaignRecord> {
  return deps.store.write(async (tx) => {
    const campaign = await loadCampaign(tx, key)
    const isHeld = campaign.status === 'SCHEDULED' && campaign.pausedAt !== null
    if (campaign.status !== 'SENDING' && !isHeld) {
      throw wrongStatus(campaign.status, 'be resumed')
    }
    if (campaign.pausedAt !== null) {
      await requireSender(tx, key.projectId, { domain: campaign.fromDomain })
      if (!isHeld) await requireRoom(deps, tx, campaign)
      await resumeInTx(deps, tx, campaign)
    }
    return toCampaignRecord(await loadCampaign(tx, key), deps.now())
  })
}

/** A campaign whose emails are all made needs no room. */
async function requireRoom(deps: ResumeDeps, tx: Tx, campaign: FoundCampaign): Promise<void> {
  const { projectId, progress } = campaign
  if (progress !== null && progress.expandedAt !== null) return
  const category = usageCategoryOf(campaign)
  await refuseAtLimit(deps, tx, { projectId, category, at: deps.now() })
}

/** The campaign is paused. */
export async function resumeInTx(deps: StopDeps, tx: Tx, campaign: FoundCampaign): Promise<void> {
  const at = deps.now()
  await tx
    .update(campaigns)
    .set({ pausedAt: null, pauseReason: null, pauseDetails: null, updatedAt: at })
    .where(eq(campaigns.id, campaign.id))
  const { progress, maxPerHour } = campaign
  if (progress !== null) {
    await tx
      .update(campaignProgress)
      .set({
        resumedAt: at,
        brakeBase: currentFigures(progress),
        ...(maxPerHour !== null && restartPace(maxPerHour, at)),
      })
      .where(eq(campaignProgress.campaignId, campaign.id))
  }
  const data = { reason: campaign.pauseReason }
  await appendCampaignEvent(tx, 'campaign.resumed', { campaign, data, at })
  tx.afterCommit(() => wakeLoops(deps))
}

/** The brake and the estimate of the end count from these. */
function currentFigures(progress: NonNullable<FoundCampaign['progress']>): Record<string, number> {
  return {
    sent: progress.sentCount,
    hardBounces: progress.hardBounceCount,
    refusals: progress.refusalCount,
    authenticationRefusals: progress.authenticationRefusalCount,
    complaints: progress.complainedCount,
  }
}
