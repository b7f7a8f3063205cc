/** Validates the fields of a campaign. Its texts, sender and type obey the rules of templates. */
import { AppError, invalidField } from '../../errors.ts'
import type { Campaign } from '../../store/schema/campaigns.ts'
import type { AudienceType } from '../../store/schema/words.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { type Condition, parseCondition } from '../conditions/condition.ts'
import { loadSegment } from '../segments/get.ts'
import { requireReferences } from '../segments/require-references.ts'
import { checkFields, type TemplateChanges } from '../templates/validate.ts'

/** Some of the fields; undefined means absent, null clears a field. */
export type CampaignChanges = TemplateChanges & {
  audienceType?: AudienceType | undefined
  segmentId?: string | null | undefined
  audienceCondition?: unknown
  /** Emails an hour; null for no bound. */
  maxPerHour?: number | null | undefined
  /** Copied from at creation only. */
  templateId?: string | null | undefined
  /** ISO 8601 */
  scheduledFor?: string | null | undefined
}

/** The columns that define an audience. */
export type Audience = Pick<Campaign, 'audienceType' | 'segmentId'> & {
  audienceCondition: Condition | null
}

/** The audience of a campaign that names none. */
export const EVERYBODY: Audience = { audienceType: 'ALL', segmentId: null, audienceCondition: null }

/** The highest `maxPerHour`. */
export const MAX_PER_HOUR = 10_000_000

/**
 * Checks the fields that are present, but for the audience.
 * @throws AppError VALIDATION_ERROR; BAD_REQUEST for template syntax
 */
export async function checkCampaignFields(
  deps: Pick<Base, 'outbound'>,
  { maxPerHour, ...changes }: CampaignChanges,
): Promise<void> {
  const isRate = maxPerHour == null || (Number.isSafeInteger(maxPerHour) && maxPerHour >= 1)
  if (!isRate) throw invalidField('maxPerHour', 'too_small', 'Must be an integer of at least 1')
  if ((maxPerHour ?? 0) > MAX_PER_HOUR) {
    throw invalidField('maxPerHour', 'too_big', `Must be at most ${MAX_PER_HOUR}`)
  }
  await checkFields(deps, changes)
}

/**
 * Returns the audience after the changes. Without a type, a given segment or condition decides it.
 * What the type does not need is null; given all the same, it is refused: a campaign that ignored it
 * would go to more people than meant.
 * @throws AppError VALIDATION_ERROR when the segment or the condition that the type needs is missing,
 *   another one is given, or the condition is not valid
 */
export function readAudience(current: Audience, changes: CampaignChanges): Audience {
  const audienceType = typeOf(current, changes)
  refuseUnused(audienceType, changes)
  const { segmentId = current.segmentId, audienceCondition = current.audienceCondition } = changes
  if (audienceType === 'ALL') return { audienceType, segmentId: null, audienceCondition: null }
  if (audienceType === 'SEGMENT') {
    if (segmentId === null) {
      throw invalidField('segmentId', 'invalid_type', 'An audience of type SEGMENT needs a segment')
    }
    return { audienceType, segmentId, audienceCondition: null }
  }
  if (audienceCondition === null) {
    const message = 'An audience of type FILTERED needs a condition'
    throw invalidField('audienceCondition', 'invalid_type', message)
  }
  const condition = parseCondition(audienceCondition, 'audienceCondition')
  return { audienceType, segmentId: null, audienceCondition: condition }
}

function refuseUnused(audienceType: AudienceType, changes: CampaignChanges): void {
  const unused = (name: string) =>
    invalidField(name, 'custom', `Must be null: audienceType is ${audienceType}`)
  if (changes.segmentId != null && audienceType !== 'SEGMENT') throw unused('segmentId')
  if (changes.audienceCondition != null && audienceType !== 'FILTERED')
    throw unused('audienceCondition')
}

/**
 * Requires that the segments of the audience exist.
 * @throws AppError RESOURCE_NOT_FOUND for the segment itself, BAD_REQUEST for one that the condition
 *   refers to
 */
export async function requireAudience(
  queries: Pick<Tx, 'select'>,
  projectId: string,
  { segmentId, audienceCondition: condition }: Audience,
): Promise<void> {
  if (segmentId !== null) await loadSegment(queries, { projectId, id: segmentId })
  if (condition !== null) await requireReferences(queries, { projectId, condition })
}

function typeOf(current: Audience, changes: CampaignChanges): AudienceType {
  if (changes.audienceType !== undefined) return changes.audienceType
  const hasSegment = changes.segmentId != null
  const hasCondition = changes.audienceCondition != null
  if (hasSegment && hasCondition) {
    const message = 'Required, because both a segment and a condition are given'
    throw invalidField('audienceType', 'invalid_type', message)
  }
  if (hasSegment) return 'SEGMENT'
  return hasCondition ? 'FILTERED' : current.audienceType
}

/** A time in the record of a campaign that nobody has scheduled. */
export function scheduleBySending(): AppError {
  return new AppError('BAD_REQUEST', 'Only a scheduled campaign has a time.', {
    suggestion: 'Schedule the campaign with POST /campaigns/:id/send.',
  })
}
