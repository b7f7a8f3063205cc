/**
 * Stops campaigns and lets them go on: pause, resume and cancel.
 *
 * A pause or a cancellation takes effect at once for mail that is claimed later. The rows of
 * waiting mail change after the response (`settle-stopped.ts`), and claimed mail is taken back
 * unless its content is being sent.
 */
import type { CampaignRecord } from '../../../records/campaign.ts'
import { and, eq, inArray, isNull, type SQL } from '../../../store/drizzle.ts'
import { type Campaign, campaignProgress, campaigns } from '../../../store/schema/campaigns.ts'
import type { PauseReason } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { refuseAtLimit } from '../../ground/usage/count.ts'
import type { QueueNotifier } from '../../mail/messages/queue/notifier.ts'
import { requireSender } from '../../mail/templates/validate.ts'
import { appendCampaignEvent } from './append-event.ts'
import {
  type CampaignKey,
  type FoundCampaign,
  loadCampaign,
  toCampaignRecord,
  usageCategoryOf,
  wrongStatus,
} from './campaign.ts'
import { restartPace } from './sending/pace.ts'

/** The parts that wake the loops when a campaign stops or goes on. */
export type StopDeps = Pick<Base, 'directory' | 'campaignNotifier' | 'now'> & {
  queueNotifier: QueueNotifier
}

type Pause = {
  reason: PauseReason
  /** The figures that the brake saw. */
  details?: Record<string, unknown>
}

type ResumeDeps = StopDeps & Pick<Base, 'store' | 'config'>

/**
 * Pauses a campaign that is being sent. A campaign that is paused already stays as it is.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST (it is not being sent)
 */
export async function pauseCampaign(
  deps: StopDeps & Pick<Base, 'store'>,
  key: CampaignKey,
  pause: Pause,
): Promise<CampaignRecord> {
  return deps.store.write(async (tx) => {
    const campaign = await loadCampaign(tx, key)
    if (campaign.status !== 'SENDING') {
      throw wrongStatus(campaign.status, 'be paused')
    }
    await pauseInTx(deps, tx, campaign, pause)
    return toCampaignRecord(await loadCampaign(tx, key), deps.now())
  })
}

/** Pauses a campaign. Returns false if it is not being sent, or paused already. */
export async function pauseInTx(
  deps: StopDeps,
  tx: Tx,
  campaign: Pick<Campaign, 'id' | 'projectId' | 'name'>,
  { reason, details }: Pause,
): Promise<boolean> {
  const at = deps.now()
  const paused = await tx
    .update(campaigns)
    .set({ pausedAt: at, pauseReason: reason, pauseDetails: details ?? null, updatedAt: at })
    .where(
      and(
        eq(campaigns.id, campaign.id),
        eq(campaigns.status, 'SENDING'),
        isNull(campaigns.pausedAt),
      ),
    )
    .returning({ id: campaigns.id })
  if (paused.length === 0) return false
  const data = { reason, figures: details ?? null }
  await appendCampaignEvent(tx, 'campaign.paused', { campaign, data, at })
  tx.afterCommit(() => wakeLoops(deps))
  return true
}

/**
 * Resumes a campaign: its mail is due as it was before the pause, with a later give-up time. Under `maxPerHour`,
 * mail that was not tried yet gets new slots. A scheduled campaign that a fence has paused will be sent at its
 * time, or now if the time has passed. A campaign that is not paused stays as it is.
 * @throws AppError CAMPAIGN_NOT_FOUND; BAD_REQUEST (neither being sent nor fenced); FORBIDDEN (sender domain);
 *   BILLING_LIMIT_EXCEEDED (it has emails to make, and its project may send no more)
 */
export async function resumeCampaign(deps: ResumeDeps, key: CampaignKey): Promise<CampaignRecord> {
  return deps.store.write(async (tx) => {
    const campaign = await loadCampaign(tx, key)
    const isFenced = campaign.status === 'SCHEDULED' && campaign.pausedAt !== null
    if (campaign.status !== 'SENDING' && !isFenced) {
      throw wrongStatus(campaign.status, 'be resumed')
    }
    if (campaign.pausedAt !== null) {
      await requireSender(tx, key.projectId, { domain: campaign.fromDomain })
      if (!isFenced) await requireRoom(deps, tx, campaign)
      await resumeInTx(deps, tx, campaign)
    }
    return toCampaignRecord(await loadCampaign(tx, key), deps.now())
  })
}

/**
 * Requires that the project may send more emails. A campaign whose emails are all made needs no
 * more.
 */
async function requireRoom(deps: ResumeDeps, tx: Tx, campaign: FoundCampaign): Promise<void> {
  const { projectId, progress } = campaign
  if (progress !== null && progress.expandedAt !== null) return
  const category = usageCategoryOf(campaign)
  await refuseAtLimit(deps, tx, { projectId, category, at: deps.now() })
}

/** Resumes the campaign, which must be paused. */
async function resumeInTx(deps: StopDeps, tx: Tx, campaign: FoundCampaign): Promise<void> {
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

/** The present figures, from which the brake and the estimate of the end count. */
function currentFigures(progress: NonNullable<FoundCampaign['progress']>): Record<string, number> {
  return {
    sent: progress.sentCount,
    hardBounces: progress.hardBounceCount,
    refusals: progress.refusalCount,
    authenticationRefusals: progress.authenticationRefusalCount,
    complaints: progress.complainedCount,
  }
}

/**
 * Cancels a campaign: contacts that have not got their email yet get none.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST (it is neither scheduled nor being sent)
 */
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
    const unpaused = { pausedAt: null, pauseReason: null, pauseDetails: null }
    const totalRecipients = campaign.progress?.rowsMade ?? 0
    await tx
      .update(campaigns)
      .set({ ...unpaused, status: 'CANCELLED', totalRecipients, cancelledAt: at, updatedAt: at })
      .where(eq(campaigns.id, id))
    await appendCampaignEvent(tx, 'campaign.cancelled', { campaign, at })
    tx.afterCommit(() => wakeLoops(deps))
    return toCampaignRecord(await loadCampaign(tx, key), at)
  })
}

/**
 * Resumes the campaigns that a fence has paused, and returns how many. `which`: a condition on campaigns.
 */
export async function resumeRestoredCampaigns(deps: StopDeps, tx: Tx, which: SQL): Promise<number> {
  const paused = await tx
    .select({ id: campaigns.id, projectId: campaigns.projectId })
    .from(campaigns)
    .where(
      and(
        inArray(campaigns.status, ['SCHEDULED', 'SENDING']),
        eq(campaigns.pauseReason, 'restored'),
        which,
      ),
    )
  for (const key of paused) await resumeInTx(deps, tx, await loadCampaign(tx, key))
  return paused.length
}

/**
 * Lets delivery take back claimed mail, and the loop of `settle-stopped.ts` change the waiting
 * rows.
 */
function wakeLoops({ directory, queueNotifier, campaignNotifier }: StopDeps): void {
  directory.drop()
  queueNotifier.notify('anywhere')
  campaignNotifier.notify()
}
