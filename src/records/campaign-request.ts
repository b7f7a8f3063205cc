/** The fields of a campaign in requests. Some fields have two names; a client may use either. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { MAX_TEMPLATE_LENGTH } from '../formats/template/limits.ts'
import { conditionField } from './condition.ts'
import { id } from './fields.ts'
import { MAX_PER_HOUR } from './limits.ts'
import { apartSender, contentClass, templateFields } from './template.ts'
import { AUDIENCE_TYPES } from './words.ts'

/**
 * Octets of a request. JSON may write each character of the body as \uXXXX (6 octets); 256 KB hold
 * all other fields.
 */
export const MAX_CAMPAIGN_BYTES = MAX_TEMPLATE_LENGTH * 6 + 256 * 1024

const time = z.string().nullable()

const fields = {
  ...templateFields,
  type: contentClass.meta({
    description: 'TRANSACTIONAL goes to unsubscribed contacts, too; the others leave them out',
  }),
  audienceType: z.enum(AUDIENCE_TYPES).meta({
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

/** The fields of an unsaved campaign for a count of its audience. */
export const draftAudience = changes
  .extend({ audienceType: fields.audienceType })
  .superRefine(refuseTwoValues)
  .transform((body) => toOneSpelling(body))

/**
 * The request that says when a campaign is sent. Strict, because a campaign whose time has a
 * misspelt name would be sent at once.
 */
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
