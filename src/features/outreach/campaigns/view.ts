/** A campaign as the API returns it: each field in both spellings where clients use two. */

import { formatInstant, formatOptionalInstant, HOUR_MS } from '../../../base/clock.ts'
import type { CampaignRecord } from '../../../records/campaign.ts'
import { countsOf } from './figures/counts.ts'
import type { FoundCampaign } from './find.ts'

/** `now`: epoch ms. */
export function toCampaignRecord(campaign: FoundCampaign, now: number): CampaignRecord {
  const { progress } = campaign
  const scheduledFor = formatOptionalInstant(campaign.scheduledFor)
  const endAt = estimateEnd(campaign, now)
  return {
    id: campaign.id,
    name: campaign.name,
    description: campaign.description,
    subject: campaign.subject,
    body: campaign.body,
    from: campaign.fromAddress,
    fromName: campaign.fromName,
    replyTo: campaign.replyTo,
    type: campaign.type,
    audienceType: campaign.audienceType,
    audienceCondition: campaign.audienceCondition,
    audienceFilter: campaign.audienceCondition,
    segmentId: campaign.segmentId,
    segment: campaign.segment,
    templateId: campaign.templateId,
    status: campaign.status,
    scheduledFor,
    scheduledAt: scheduledFor,
    maxPerHour: campaign.maxPerHour,
    version: campaign.version,
    totalRecipients: campaign.totalRecipients ?? 0,
    ...countsOf(progress),
    pausedAt: formatOptionalInstant(campaign.pausedAt),
    pauseReason: campaign.pauseReason,
    pauseDetails: campaign.pauseDetails,
    estimatedEndAt: endAt === undefined ? null : formatInstant(endAt),
    archived: campaign.archivedAt !== null,
    archivedAt: formatOptionalInstant(campaign.archivedAt),
    projectId: campaign.projectId,
    sentAt: formatOptionalInstant(campaign.sentAt),
    createdAt: formatInstant(campaign.createdAt),
    updatedAt: formatInstant(campaign.updatedAt),
  }
}

/**
 * Returns when the last email will probably be sent (epoch ms): at the rate since the campaign began
 * or was resumed, or at `maxPerHour` if that is slower.
 */
export function estimateEnd(campaign: FoundCampaign, now: number): number | undefined {
  const { status, progress, pausedAt, maxPerHour, totalRecipients } = campaign
  if (status !== 'SENDING' || pausedAt !== null || progress === null) return undefined
  const sent = progress.sentCount - (progress.brakeBase?.sent ?? 0)
  const elapsedMs = now - (progress.resumedAt ?? progress.begunAt)
  if (sent <= 0 || elapsedMs <= 0) return undefined
  const total = Math.max(totalRecipients ?? 0, progress.rowsMade)
  const failed = progress.failedCount + progress.failedUnsubscribedCount
  const left = Math.max(0, total - progress.sentCount - progress.suppressedCount - failed)
  const leftMs = (left * elapsedMs) / sent
  const pacedMs = maxPerHour === null ? 0 : (left * HOUR_MS) / maxPerHour
  return Math.round(now + Math.max(leftMs, pacedMs))
}
