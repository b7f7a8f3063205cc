/** Sends a campaign now, or schedules it. */

import { formatSecond } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { CampaignRecord } from '../../../../records/campaign.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../../store/schema/campaigns.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { refuseAtLimit } from '../../../ground/usage/count.ts'
import { walkContacts } from '../../../people/contacts/list/walk.ts'
import { appendCampaignEvent } from '../append-event.ts'
import { audienceScope, describeLeftOut, recipientScope } from '../audience/scope.ts'
import { countUnsubscribedSoon } from '../audience/unsubscribed-recipients.ts'
import { type CampaignKey, loadCampaign } from '../find.ts'
import { requireSenderDomain } from '../sender-domain.ts'
import { usageCategoryOf } from '../usage-category.ts'
import { toCampaignRecord } from '../view.ts'
import { beginSending } from './begin.ts'
import { readScheduledFor } from './scheduled-for.ts'

type Deps = Pick<
  Base,
  'store' | 'config' | 'directory' | 'campaignNotifier' | 'sharedRuns' | 'now' | 'log'
>

/** Who sends or schedules a campaign anew does not want a fence to hold it. */
const UNPAUSED = { pausedAt: null, pauseReason: null } as const

export type SentCampaign = {
  campaign: CampaignRecord
  message: string
  /** How many unsubscribed contacts get it; undefined if the count failed or took too long. */
  unsubscribedRecipients: number | undefined
}

/**
 * Sends a campaign in status DRAFT or SCHEDULED, or schedules it again.
 * @throws AppError CAMPAIGN_NOT_FOUND; VALIDATION_ERROR (scheduledFor); FORBIDDEN (sender domain);
 *   BAD_REQUEST for another status, a time that has passed, and an audience without recipients;
 *   BILLING_LIMIT_EXCEEDED if it would begin now and its project may send no more
 */
export async function sendCampaign(
  deps: Deps,
  key: CampaignKey,
  { scheduledFor }: { scheduledFor?: string | null | undefined } = {},
): Promise<SentCampaign> {
  const { store, now } = deps
  const campaign = await loadCampaign(store.read, key)
  const at = scheduledFor == null ? null : readScheduledFor(scheduledFor, now())
  requireUnsent(campaign)
  await requireSenderDomain(deps, campaign)
  if (!(await hasRecipients(deps, campaign))) throw noRecipients(campaign)
  await store.write(async (tx) => {
    const current = await loadCampaign(tx, key)
    requireUnsent(current)
    if (current.version !== campaign.version) throw changedMeanwhile()
    if (at === null) await sendNow(deps, tx, current)
    else await schedule(tx, current, { at, now: now() })
    tx.afterCommit(() => deps.campaignNotifier.notify())
  })
  const message =
    at === null
      ? 'The campaign is being sent.'
      : `The campaign will be sent at ${formatSecond(at)}.`
  const sent = toCampaignRecord(await loadCampaign(store.read, key), now())
  return {
    campaign: sent,
    message,
    unsubscribedRecipients: await countUnsubscribedSoon(deps, campaign),
  }
}

/** Whether anyone would get the campaign now. */
export async function hasRecipients(
  deps: Pick<Base, 'store' | 'now'>,
  campaign: Campaign,
): Promise<boolean> {
  const scope = await audienceScope(deps, campaign)
  const recipients = recipientScope(scope, campaign.type)
  for await (const page of walkContacts(deps, recipients, { size: 1 })) return page.length > 0
  return false
}

async function sendNow(deps: Deps, tx: Tx, campaign: Campaign): Promise<void> {
  const at = deps.now()
  const { projectId } = campaign
  await refuseAtLimit(deps, tx, { projectId, category: usageCategoryOf(campaign), at })
  await tx
    .update(campaigns)
    .set({ scheduledFor: null, ...UNPAUSED })
    .where(eq(campaigns.id, campaign.id))
  await beginSending(tx, campaign, at)
}

async function schedule(
  tx: Tx,
  campaign: Campaign,
  { at, now }: { at: number; now: number },
): Promise<void> {
  await tx
    .update(campaigns)
    .set({ status: 'SCHEDULED', scheduledFor: at, ...UNPAUSED, updatedAt: now })
    .where(eq(campaigns.id, campaign.id))
  await appendCampaignEvent(tx, 'campaign.scheduled', {
    campaign,
    data: { scheduledFor: new Date(at).toISOString() },
    at: now,
  })
}

function requireUnsent({ status, archivedAt }: Campaign): void {
  if (archivedAt !== null) {
    throw new AppError('BAD_REQUEST', 'The campaign cannot be sent: it is archived.', {
      suggestion: 'Take the campaign out of the archive first.',
    })
  }
  if (status === 'DRAFT' || status === 'SCHEDULED') return
  throw new AppError('BAD_REQUEST', `The campaign cannot be sent: it is ${status}.`, {
    suggestion: 'Duplicate the campaign to send it again.',
  })
}

function noRecipients({ type }: Campaign): AppError {
  return new AppError('BAD_REQUEST', 'Nobody would get the campaign: its audience is empty.', {
    suggestion: `Look at the audience of the campaign: ${describeLeftOut(type)}.`,
  })
}

function changedMeanwhile(): AppError {
  return new AppError('CONFLICT', 'The campaign was changed meanwhile; nothing was sent.')
}
