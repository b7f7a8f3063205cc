/**
 * Changes a campaign. While it is being sent, only its name, description and pace can change; a
 * campaign that was sent or cancelled does not change any more.
 */

import { isDeepStrictEqual } from 'node:util'
import { formatInstant, parseInstant } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { CampaignRecord } from '../../../records/campaign.ts'
import { eq } from '../../../store/drizzle.ts'
import { type Campaign, campaignProgress, campaigns } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { Condition } from '../../ground/conditions/condition.ts'
import { loadTemplate } from '../../mail/templates/templates.ts'
import { requireSender, toColumns } from '../../mail/templates/validate.ts'
import { appendCampaignEvent } from './append-event.ts'
import { countSoon } from './audience/total-recipients.ts'
import {
  type CampaignKey,
  type FoundCampaign,
  loadCampaign,
  toCampaignRecord,
  wrongStatus,
} from './campaign.ts'
import { restartPace } from './sending/pace.ts'
import { readScheduledFor } from './sending/send.ts'
import {
  type Audience,
  type CampaignChanges,
  checkCampaignFields,
  readAudience,
  requireAudience,
  scheduleBySending,
} from './validate.ts'

type CampaignUpdate = CampaignKey & {
  changes: CampaignChanges
  /**
   * Whether the caller's change is meant for this version. Without this function, the last change
   * wins.
   */
  isExpected?: (version: number) => boolean
}

const WHILE_SENDING = ['name', 'description', 'maxPerHour']
const AUDIENCE = ['audienceType', 'segmentId', 'audienceCondition'] as const

/**
 * Changes the fields that are present; null clears a field. Each change makes a new version.
 * @throws AppError CAMPAIGN_NOT_FOUND; VALIDATION_ERROR; BAD_REQUEST (template syntax, a field that
 *   the status forbids, a time that has passed); FORBIDDEN (sender domain); RESOURCE_NOT_FOUND
 *   (segment); TEMPLATE_NOT_FOUND; CONFLICT with status 412 and the record in `details.current` for another version
 */
export async function updateCampaign(
  deps: Pick<Base, 'store' | 'outbound' | 'campaignNotifier' | 'sharedRuns' | 'now' | 'log'>,
  { changes, isExpected = () => true, ...key }: CampaignUpdate,
): Promise<CampaignRecord> {
  await checkCampaignFields(deps, changes, () => loadCampaign(deps.store.read, key))
  const changed = await deps.store.write(async (tx) => {
    const current = await loadCampaign(tx, key)
    const now = deps.now()
    if (!isExpected(current.version)) throw otherVersion(toCampaignRecord(current, now))
    requireChangeable(current, changes)
    const columns = await readColumns(tx, current, { changes, now })
    if (!isChange(current, columns)) return current
    await tx
      .update(campaigns)
      .set({ ...columns, version: current.version + 1, updatedAt: now })
      .where(eq(campaigns.id, current.id))
    const { maxPerHour } = { ...current, ...columns }
    if (maxPerHour !== null && isSlower(current, maxPerHour)) {
      await tx
        .update(campaignProgress)
        .set(restartPace(maxPerHour, now))
        .where(eq(campaignProgress.campaignId, current.id))
    }
    await recordSchedule(tx, current, { at: columns.scheduledFor, now })
    tx.afterCommit(() => deps.campaignNotifier.notify())
    return loadCampaign(tx, key)
  })
  if (changed.totalRecipients !== null) return toCampaignRecord(changed, deps.now())
  await countSoon(deps, changed)
  const { totalRecipients } = await loadCampaign(deps.store.read, key)
  return toCampaignRecord({ ...changed, totalRecipients }, deps.now())
}

function requireChangeable({ status }: Campaign, changes: CampaignChanges): void {
  if (status === 'DRAFT' || status === 'SCHEDULED') return
  if (status !== 'SENDING') {
    throw wrongStatus(status, 'be changed')
  }
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const fixed = given.map(([field]) => field).filter((field) => !WHILE_SENDING.includes(field))
  if (fixed.length === 0) return
  const text = 'While a campaign is being sent, only name, description and maxPerHour can change.'
  throw new AppError('BAD_REQUEST', text, { details: { fields: fixed } })
}

async function readColumns(
  tx: Tx,
  current: FoundCampaign,
  { changes, now }: { changes: CampaignChanges; now: number },
): Promise<Partial<Campaign>> {
  if (changes.from !== undefined) await requireSender(tx, current.projectId, changes.from)
  const { audienceType, segmentId, audienceCondition, scheduledFor, templateId, ...rest } = changes
  await checkTemplateId(tx, current, templateId)
  const columns: Partial<Campaign> = {
    ...toColumns(rest),
    ...(await changeAudience(tx, current, changes)),
    ...changeTime(current, { scheduledFor, now }),
  }
  const { type = current.type } = columns
  const isCounted =
    type === current.type && !isChange(current, toAudience({ ...current, ...columns }))
  return isCounted ? columns : { ...columns, totalRecipients: null }
}

/**
 * Requires that the new template exists. The change has no further effect: a template's text is
 * copied when a campaign is created.
 */
async function checkTemplateId(
  tx: Tx,
  { projectId, templateId: current }: FoundCampaign,
  id: string | null | undefined,
): Promise<void> {
  if (id == null || id === current) return
  await loadTemplate(tx, { projectId, id })
}

async function changeAudience(
  tx: Tx,
  current: FoundCampaign,
  changes: CampaignChanges,
): Promise<Partial<Audience>> {
  if (AUDIENCE.every((field) => changes[field] === undefined)) return {}
  const audience = readAudience(toAudience(current), changes)
  if (current.status === 'SCHEDULED' && audience.segmentId !== current.segmentId) {
    throw new AppError('BAD_REQUEST', 'The segment of a scheduled campaign cannot change.', {
      suggestion: 'Cancel the campaign and send a duplicate.',
    })
  }
  await requireAudience(tx, current.projectId, audience)
  return audience
}

/**
 * Returns the columns for the time in a request, which may repeat the time that the record has.
 * With another time, no fence holds the campaign any more.
 */
function changeTime(
  { status, scheduledFor: current }: Campaign,
  { scheduledFor, now }: { scheduledFor: string | null | undefined; now: number },
): Partial<Campaign> {
  if (scheduledFor === undefined) return {}
  if (scheduledFor === null && status === 'SCHEDULED') {
    throw new AppError('BAD_REQUEST', 'A scheduled campaign has a time.', {
      suggestion: 'If it is not to be sent then, cancel it; its duplicate is a draft again.',
    })
  }
  if (scheduledFor === null) return {}
  if (status === 'DRAFT') throw scheduleBySending()
  if (parseInstant(scheduledFor.trim())?.at === current) return {}
  return { scheduledFor: readScheduledFor(scheduledFor, now), pausedAt: null, pauseReason: null }
}

/** Appends the event `campaign.scheduled` for a new time, as for the first time. */
async function recordSchedule(
  tx: Tx,
  campaign: FoundCampaign,
  { at, now }: { at: number | null | undefined; now: number },
): Promise<void> {
  if (at == null) return
  const data = { scheduledFor: formatInstant(at) }
  await appendCampaignEvent(tx, 'campaign.scheduled', { campaign, data, at: now })
}

function toAudience({ audienceType, segmentId, audienceCondition }: Campaign): Audience {
  return { audienceType, segmentId, audienceCondition: audienceCondition as Condition | null }
}

function isChange(current: Campaign, columns: Partial<Campaign>): boolean {
  return Object.entries(columns).some(
    ([name, value]) => !isDeepStrictEqual(current[name as keyof Campaign], value),
  )
}

/** Whether the campaign is being sent, and the new pace is lower. */
function isSlower({ status, maxPerHour: from }: Campaign, to: number): boolean {
  return status === 'SENDING' && (from === null || to < from)
}

/**
 * The error for a campaign of another version. Its status is 412, because the caller has named the
 * version that it knows (RFC 9110 section 13.1.1).
 */
function otherVersion(current: CampaignRecord): AppError {
  return new AppError('CONFLICT', 'The campaign was changed meanwhile; nothing was saved.', {
    status: 412,
    details: { current },
    suggestion: 'Apply the change to the current version, or send it without If-Match.',
  })
}
