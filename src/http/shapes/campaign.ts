/** A campaign as responses show it. */
import { z } from 'zod'
import { instant } from '../../records/fields.ts'
import { contentClass } from './template-fields.ts'

const count = z.int().meta({ description: 'At most a second behind' })

export const campaignRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    subject: z.string(),
    body: z.string(),
    from: z.string(),
    fromName: z.string().nullable(),
    replyTo: z.string().nullable(),
    type: contentClass,
    audienceType: z.enum(['ALL', 'SEGMENT', 'FILTERED']),
    audienceCondition: z.unknown().meta({ description: 'Null unless audienceType is FILTERED' }),
    audienceFilter: z.unknown().meta({ description: 'The same as audienceCondition' }),
    segmentId: z.string().nullable(),
    segment: z.object({ id: z.string(), name: z.string() }).nullable(),
    templateId: z.string().nullable(),
    status: z.enum(['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED']),
    scheduledFor: instant.nullable(),
    scheduledAt: instant.nullable().meta({ description: 'The same as scheduledFor' }),
    maxPerHour: z.int().nullable(),
    version: z.int(),
    totalRecipients: z
      .int()
      .meta({ description: 'An estimate until the campaign is SENT or CANCELLED' }),
    sentCount: count,
    deliveredCount: count,
    openedCount: count,
    clickedCount: count,
    bouncedCount: count,
    complainedCount: count,
    unsubscribedCount: count,
    pausedAt: instant.nullable(),
    pauseReason: z
      .enum([
        'manual',
        'brake',
        'domain_unverified',
        'condition_invalid',
        'segment_missing',
        'project_disabled',
        'billing_limit',
        'restored',
      ])
      .nullable(),
    pauseDetails: z.record(z.string(), z.unknown()).nullable(),
    estimatedEndAt: instant.nullable(),
    archived: z.boolean(),
    archivedAt: instant.nullable(),
    projectId: z.string(),
    sentAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Campaign' })

/** A campaign as it is shown alone and in the list. */
export const shownCampaign = campaignRecord
  .extend({
    limitedUntil: instant.nullable().meta({
      description:
        'When a campaign goes on that waits because its project is new and has sent as much as it may (`limits.new_project_daily`)',
    }),
  })
  .meta({ id: 'ShownCampaign' })

/** The response of the operation that shows a campaign. */
export const shownCampaignResponse = z.object({ success: z.literal(true), data: shownCampaign })

/** The response of most operations on one campaign. */
export const campaignResponse = z.object({
  success: z.literal(true),
  data: campaignRecord,
  message: z.string().optional(),
})
