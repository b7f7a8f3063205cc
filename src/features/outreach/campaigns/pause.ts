/**
 * Pauses the sending of a campaign: at once for mail that is claimed from now on, and behind the
 * answer for mail that waits (`settle-stopped.ts`). Mail whose content is on its way is not stopped.
 */
import type { CampaignRecord } from '../../../records/campaign.ts'
import { and, eq, isNull } from '../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../store/schema/campaigns.ts'
import type { PauseReason } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { QueueNotifier } from '../../mail/messages/queue/notifier.ts'
import { appendCampaignEvent } from './append-event.ts'
import { type CampaignKey, loadCampaign } from './find.ts'
import { toCampaignRecord } from './view.ts'
import { wrongStatus } from './wrong-status.ts'

/** What wakes the loops when a campaign stops or goes on. */
export type StopDeps = Pick<Base, 'directory' | 'campaignNotifier' | 'now'> & {
  queueNotifier: QueueNotifier
}

export type Pause = {
  reason: PauseReason
  /** The figures that the brake saw. */
  details?: Record<string, unknown>
}

/**
 * A campaign that is paused already stays as it is.
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

/** Pauses a campaign that is being sent. Returns false if it is not, or is paused already. */
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

/** Delivery takes back what it has claimed, and the rows that wait follow. */
export function wakeLoops({ directory, queueNotifier, campaignNotifier }: StopDeps): void {
  directory.drop()
  queueNotifier.notify('anywhere')
  campaignNotifier.notify()
}
