/** Campaigns in the API: the record, its pages, its figures, and the query that lists campaigns. */
import { z } from 'zod'
import { enveloped } from './envelope.ts'
import { instant } from './fields.ts'
import { MAX_SEARCH_LENGTH } from './limits.ts'
import { choiceParameter, page, pagingParameters, refuseMixedPaging, sortedPage } from './page.ts'
import { reasonOrNone } from './reason.ts'
import { AUDIENCE_TYPES, CAMPAIGN_STATUSES, CONTENT_CLASSES, PAUSE_REASONS } from './words.ts'

const count = z.int().meta({ description: 'At most a second behind' })

const campaignRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    subject: z.string(),
    body: z.string(),
    from: z.string(),
    fromName: z.string().nullable(),
    replyTo: z.string().nullable(),
    type: z.enum(CONTENT_CLASSES),
    audienceType: z.enum(AUDIENCE_TYPES),
    audienceCondition: z.unknown().meta({ description: 'Null unless audienceType is FILTERED' }),
    audienceFilter: z.unknown().meta({ description: 'The same as audienceCondition' }),
    segmentId: z.string().nullable(),
    segment: z.object({ id: z.string(), name: z.string() }).nullable(),
    templateId: z.string().nullable(),
    status: z.enum(CAMPAIGN_STATUSES),
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
    pauseReason: z.enum(PAUSE_REASONS).nullable(),
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

export type CampaignRecord = z.output<typeof campaignRecord>

/** A campaign in the list, and in the response that shows one campaign. */
export const shownCampaign = campaignRecord
  .extend({
    limitedUntil: instant.nullable().meta({
      description:
        'When a campaign goes on that waits because its project is new and has sent as much as it may (`limits.new_project_daily`)',
    }),
  })
  .meta({ id: 'ShownCampaign' })

export type ShownCampaign = z.output<typeof shownCampaign>

/** The response of the operation that shows a campaign. */
export const shownCampaignResponse = enveloped(shownCampaign)

/** The response of most operations on one campaign. */
export const campaignResponse = z.object({
  success: z.literal(true),
  data: campaignRecord,
  message: z.string().optional(),
})

export const campaignQuery = z
  .object({
    ...pagingParameters,
    status: z.enum(CAMPAIGN_STATUSES).optional(),
    search: z
      .string()
      .max(MAX_SEARCH_LENGTH)
      .optional()
      .meta({ description: "Part of the name, the subject or the sender's address" }),
    archived: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: 'Lists the archived campaigns in place of the others' }),
    sort: choiceParameter(['name', 'createdAt', 'updatedAt'], 'createdAt'),
    dir: choiceParameter(['asc', 'desc'], 'desc'),
  })
  .superRefine(refuseMixedPaging)

export const campaignPage = sortedPage(shownCampaign)
  .extend({
    archivedCount: z.int().meta({ description: 'The archived campaigns of the project' }),
  })
  .meta({ id: 'CampaignPage' })

const rate = z.number().meta({ description: 'Percent of sentCount; 0 when nothing was sent' })

export const campaignStats = z
  .object({
    totalRecipients: z.int(),
    sentCount: z.int().meta({ description: 'Handed over, or refused for good' }),
    deliveredCount: z.int().meta({ description: 'Without those that bounced later' }),
    openedCount: z.int(),
    clickedCount: z.int(),
    bouncedCount: z.int().meta({
      description: 'A recipient counts once: as complained, else as bounced, else as unsubscribed',
    }),
    complainedCount: z.int(),
    unsubscribedCount: z.int(),
    failedCount: z.int().meta({ description: 'Given up or cancelled' }),
    openRate: rate,
    clickRate: rate,
    bounceRate: rate,
    deliveryRate: rate,
    complaintRate: rate,
    unsubscribeRate: rate,
    skipped: z.object({ suppressed: z.int(), unsubscribed: z.int(), deleted: z.int() }),
    pending: z.int().meta({ description: 'Emails that wait or are being sent' }),
    deferred: z.int().meta({ description: 'Those of them that will be tried again' }),
    machineOpens: z.int().meta({ description: 'Opens by prefetchers and scanners' }),
    machineClicks: z.int(),
  })
  .meta({ id: 'CampaignStats' })

export type CampaignStats = z.output<typeof campaignStats>

const campaignRecipient = z.object({
  emailId: z.string(),
  contactId: z.string(),
  email: z.string(),
  occurredAt: instant.meta({ description: 'The time of the outcome, or of the status' }),
  status: z.string(),
  reason: z.string().nullable().meta({ description: 'Why the email was not delivered' }),
  ...reasonOrNone,
})

export const recipientPage = page(campaignRecipient).meta({ id: 'CampaignRecipientPage' })

/** How many contacts a campaign is meant for, and how many of them would get it. */
export const campaignAudience = z.object({
  matching: z.int().meta({ description: 'The sum of the three numbers that follow' }),
  unsubscribed: z.int().meta({
    description: 'Those left out because they are unsubscribed; 0 for a TRANSACTIONAL campaign',
  }),
  suppressed: z.int(),
  willReceive: z.int(),
  unsubscribedRecipients: z.int().meta({
    description:
      'Those of `willReceive` who are unsubscribed: a TRANSACTIONAL campaign goes to them, too',
  }),
  sample: z
    .array(z.object({ id: z.string(), email: z.string() }))
    .meta({ description: 'At most ten contacts that would get the campaign' }),
  asOf: instant,
})

export type CampaignAudienceRecord = z.output<typeof campaignAudience>

/** `uniqueClickers`: recipients who followed the link. */
export const clickedLinks = z.array(
  z.object({ url: z.string(), clicks: z.int(), uniqueClickers: z.int() }),
)

export type ClickedLink = z.output<typeof clickedLinks>[number]

export const campaignExample: CampaignRecord = {
  id: '0199a7c0-0000-7000-8000-000000000030',
  name: 'Spring',
  description: null,
  subject: 'Hello {{ name }}',
  body: '<p>Hello {{ name }}, spring is here.</p>',
  from: 'hello@example.test',
  fromName: null,
  replyTo: null,
  type: 'MARKETING',
  audienceType: 'ALL',
  audienceCondition: null,
  audienceFilter: null,
  segmentId: null,
  segment: null,
  templateId: null,
  status: 'DRAFT',
  scheduledFor: null,
  scheduledAt: null,
  maxPerHour: null,
  version: 1,
  totalRecipients: 0,
  sentCount: 0,
  deliveredCount: 0,
  openedCount: 0,
  clickedCount: 0,
  bouncedCount: 0,
  complainedCount: 0,
  unsubscribedCount: 0,
  pausedAt: null,
  pauseReason: null,
  pauseDetails: null,
  estimatedEndAt: null,
  archived: false,
  archivedAt: null,
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  sentAt: null,
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}
