/** Sends a campaign now, or schedules it. */
import { DAY_MS, formatSecond, parseInstant } from '../../../../base/clock.ts'
import { AppError, invalidField } from '../../../../base/errors.ts'
import type { CampaignRecord } from '../../../../records/campaign.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../../store/schema/campaigns.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { SenderDomain } from '../../../ground/directory.ts'
import { refuseAtLimit } from '../../../ground/usage/count.ts'
import { unverifiedSender } from '../../../mail/domains/unverified-sender.ts'
import { walkContacts } from '../../../people/contacts/list/walk.ts'
import { appendCampaignEvent } from '../append-event.ts'
import { audienceScope, describeLeftOut, recipientScope } from '../audience/scope.ts'
import { countUnsubscribedSoon } from '../audience/total-recipients.ts'
import { type CampaignKey, loadCampaign, toCampaignRecord, usageCategoryOf } from '../campaign.ts'
import { beginSending } from './active.ts'

type Deps = Pick<
  Base,
  'store' | 'config' | 'directory' | 'campaignNotifier' | 'sharedRuns' | 'now' | 'log'
>

/**
 * The columns of a campaign that is not paused: a campaign that is sent or scheduled again is no
 * longer held by a fence.
 */
const UNPAUSED = { pausedAt: null, pauseReason: null } as const

type SentCampaign = {
  campaign: CampaignRecord
  message: string
  /** How many unsubscribed contacts get the campaign; undefined if the count failed or took too long. */
  unsubscribedRecipients: number | undefined
}

const MAX_AHEAD_MS = 366 * DAY_MS

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
async function hasRecipients(
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

/**
 * Parses the time for which a request schedules a campaign, and returns epoch ms. A time without an offset is UTC.
 * @throws AppError VALIDATION_ERROR for a text that is no time, or a time more than 366 days ahead;
 *   BAD_REQUEST for a time that is not in the future
 */
export function readScheduledFor(text: string, now: number): number {
  const instant = parseInstant(text.trim())
  if (instant === undefined) {
    const expected =
      'Must be a date or a time in ISO 8601 or RFC 1123, such as 2026-12-24T09:00:00Z'
    throw invalidField('scheduledFor', 'invalid_date', expected)
  }
  if (instant.at - now > MAX_AHEAD_MS) {
    throw invalidField('scheduledFor', 'too_big', 'Must be at most 366 days ahead')
  }
  if (instant.at <= now) {
    throw new AppError('BAD_REQUEST', 'scheduledFor must be in the future.', {
      suggestion: 'Leave scheduledFor out to send the campaign now.',
    })
  }
  return instant.at
}

/**
 * Returns the domain that a campaign is sent from.
 * @throws AppError FORBIDDEN unless the domain is verified for the project
 */
export async function requireSenderDomain(
  { directory, store }: Pick<Base, 'directory' | 'store'>,
  { projectId, fromDomain }: Pick<Campaign, 'projectId' | 'fromDomain'>,
): Promise<SenderDomain> {
  const domain = await directory.findSenderDomain(projectId, fromDomain)
  if (domain === undefined)
    throw await unverifiedSender(store.read, { projectId, domain: fromDomain })
  return domain
}
