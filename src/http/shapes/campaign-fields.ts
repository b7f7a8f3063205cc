/** The fields of a campaign in requests. Some have two spellings, of which clients use either. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { FieldWarning } from '../../base/errors.ts'
import {
  type CampaignChanges,
  listIgnored,
  MAX_PER_HOUR,
} from '../../features/outreach/campaigns/validate.ts'
import { MAX_TEMPLATE_LENGTH } from '../../formats/template/limits.ts'
import { conditionField } from '../../records/condition.ts'
import { id } from '../../records/fields.ts'
import type { NameRules } from '../unknown-names.ts'
import { shownCampaign } from './campaign.ts'
import { apartSender, contentClass, templateFields } from './template-fields.ts'

/** JSON may write each character as \uXXXX. The other fields are short, or a condition. */
export const MAX_CAMPAIGN_BYTES = MAX_TEMPLATE_LENGTH * 6 + 256 * 1024

const time = z.string().nullable()

const fields = {
  ...templateFields,
  type: contentClass.meta({
    description: 'TRANSACTIONAL goes to unsubscribed contacts, too; the others leave them out',
  }),
  audienceType: z.enum(['ALL', 'SEGMENT', 'FILTERED']).meta({
    description:
      'SEGMENT needs `segmentId`, FILTERED `audienceCondition`; ALL is every contact, and ignores both',
  }),
  segmentId: id.nullable().meta({ type: ['string', 'null'], format: 'uuid' }),
  audienceCondition: conditionField,
  audienceFilter: conditionField,
  templateId: id.nullable().meta({
    type: ['string', 'null'],
    format: 'uuid',
    description:
      'At creation, subject, body, from, fromName, replyTo and type are copied unless given',
  }),
  maxPerHour: z.int().min(1).max(MAX_PER_HOUR).nullable(),
  scheduledFor: time.meta({ description: 'The new time of a campaign that is SCHEDULED' }),
  scheduledAt: time.meta({ description: 'The same as scheduledFor' }),
}

const changes = z.object(fields).partial()

export const campaignChanges = changes
  .superRefine(refuseTwoValues)
  .transform((body) => toOneSpelling(body))

export const newCampaign = changes
  .extend({ name: fields.name, audienceType: fields.audienceType })
  .superRefine(refuseTwoValues)
  .transform((body) => toOneSpelling(body))

/** A campaign that is not stored, whose audience is to be counted. */
export const draftAudience = changes
  .extend({ audienceType: fields.audienceType })
  .superRefine(refuseTwoValues)
  .transform((body) => toOneSpelling(body))

/** When a campaign is to be sent. Strict: with a misspelt name it would be sent at once. */
export const schedule = z
  .strictObject({
    scheduledFor: time.optional().meta({
      description:
        'ISO 8601 or RFC 1123, at most 366 days ahead; UTC without an offset. Absent or null: now',
    }),
    scheduledAt: time.optional().meta({ description: 'The same as scheduledFor' }),
  })
  .superRefine(refuseTwoValues)
  .transform(({ scheduledFor, scheduledAt }) => ({ scheduledFor: scheduledFor ?? scheduledAt }))

/**
 * A misspelt audience would be everybody, a misspelt sender another one, a misspelt time now: a name near one
 * of these fields is refused.
 */
export const campaignNames: NameRules = {
  record: shownCampaign,
  ways: {
    status:
      'POST /campaigns/:id/send, /cancel, /pause and /resume change it; for a draft again, cancel the campaign and POST /campaigns/:id/duplicate',
    archived: 'POST /campaigns/:id/archive or /unarchive',
  },
  guarded: [
    'audienceType',
    'segmentId',
    'audienceCondition',
    'audienceFilter',
    'from',
    'fromName',
    'replyTo',
    'scheduledFor',
    'scheduledAt',
  ],
  aliases: {
    audience: 'audienceType',
    segment: 'segmentId',
    segments: 'segmentId',
    segmentIds: 'segmentId',
    list: 'segmentId',
    lists: 'segmentId',
    listId: 'segmentId',
    listIds: 'segmentId',
    filter: 'audienceFilter',
    condition: 'audienceCondition',
    conditions: 'audienceCondition',
    sender: 'from',
    fromEmail: 'from',
    senderName: 'fromName',
    reply: 'replyTo',
    sendAt: 'scheduledAt',
    scheduled: 'scheduledAt',
    schedule: 'scheduledAt',
    html: 'body',
    htmlBody: 'body',
    content: 'body',
    title: 'subject',
    template: 'templateId',
  },
}

type Spellings = Partial<z.output<typeof changes>>

function refuseTwoValues(body: Spellings, context: z.core.$RefinementCtx<unknown>): void {
  const pairs = [
    ['audienceCondition', 'audienceFilter'],
    ['scheduledFor', 'scheduledAt'],
  ] as const
  for (const [field, other] of pairs) {
    const [one, two] = [body[field], body[other]]
    if (one === undefined || two === undefined || isDeepStrictEqual(one, two)) continue
    const message = `Differs from ${field}, which is the same field`
    context.addIssue({ code: 'custom', path: [other], message })
  }
}

function toOneSpelling<Body extends Spellings>(body: Body) {
  const { audienceFilter, scheduledAt, ...rest } = body
  const { audienceCondition = audienceFilter, scheduledFor = scheduledAt } = rest
  return apartSender({ ...rest, audienceCondition, scheduledFor })
}

/** An audience of everybody does not mean that of the other fields: the answer says so. */
export function warnOfIgnored({
  body,
  warn,
}: {
  body: CampaignChanges
  warn(warning: FieldWarning): void
}): void {
  for (const field of listIgnored(body)) {
    const message = 'Ignored: with the audienceType ALL the campaign goes to every contact.'
    warn({ field, message, suggestion: null })
  }
}
