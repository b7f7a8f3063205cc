/** Validates the fields of a campaign. Its texts, sender and type obey the rules of templates. */
import { AppError, invalidField } from '../../../base/errors.ts'
import { MAX_PER_HOUR } from '../../../records/limits.ts'
import type { Campaign } from '../../../store/schema/campaigns.ts'
import type { AudienceType } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { type Condition, parseCondition } from '../../ground/conditions/condition.ts'
import { checkFields, type TemplateChanges } from '../../mail/templates/validate.ts'
import { requireReferences } from '../../people/segments/references.ts'
import { loadSegment } from '../../people/segments/segments.ts'

/** Some of the fields; undefined means absent, null clears a field. */
export type CampaignChanges = TemplateChanges & {
  audienceType?: AudienceType | undefined
  segmentId?: string | null | undefined
  audienceCondition?: unknown
  /** Emails an hour; null for no bound. */
  maxPerHour?: number | null | undefined
  /**
   * The template whose text is copied when the campaign is created; a later change of it copies
   * nothing.
   */
  templateId?: string | null | undefined
  /** ISO 8601 */
  scheduledFor?: string | null | undefined
}

/** The columns that define an audience. */
export type Audience = Pick<Campaign, 'audienceType' | 'segmentId'> & {
  audienceCondition: Condition | null
}

/**
 * The audience that a new campaign begins with: the fields of a request are read as a change of
 * this audience.
 */
export const EVERYBODY_AUDIENCE: Audience = {
  audienceType: 'ALL',
  segmentId: null,
  audienceCondition: null,
}

/** A field that narrows an audience, and the type that it fits. */
const NARROWINGS = [
  { field: 'segmentId', fits: 'SEGMENT' },
  { field: 'audienceCondition', fits: 'FILTERED' },
] as const
type Narrowing = (typeof NARROWINGS)[number]

/**
 * Checks the fields that are present, except the audience. `loadStored`: see `checkFields`.
 * @throws AppError VALIDATION_ERROR; BAD_REQUEST for template syntax
 */
export async function checkCampaignFields(
  deps: Pick<Base, 'outbound'>,
  { maxPerHour, ...changes }: CampaignChanges,
  loadStored?: Parameters<typeof checkFields>[2],
): Promise<void> {
  const isRate = maxPerHour == null || (Number.isSafeInteger(maxPerHour) && maxPerHour >= 1)
  if (!isRate) throw invalidField('maxPerHour', 'too_small', 'Must be an integer of at least 1')
  if ((maxPerHour ?? 0) > MAX_PER_HOUR) {
    throw invalidField('maxPerHour', 'too_big', `Must be at most ${MAX_PER_HOUR}`)
  }
  await checkFields(deps, changes, loadStored)
}

/**
 * Returns the audience after the changes. Without a type, the current type stays. A field that does
 * not fit the type is null. If a request gives such a field, it is refused, because a campaign that
 * ignored it would go to more people than meant. The field is ignored only if the request itself
 * names the type ALL (`listIgnored`).
 * @throws AppError VALIDATION_ERROR when the segment or the condition that the type needs is
 *   missing, another one is given, or the condition is not valid
 */
export function readAudience(current: Audience, changes: CampaignChanges): Audience {
  const { audienceType = current.audienceType } = changes
  if (changes.audienceType !== 'ALL') refuseUnused(audienceType, changes)
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
  const other = ({ fits }: Narrowing) => {
    const stored = changes.audienceType === undefined ? `; give audienceType ${fits} with it` : ''
    return `Must be null: audienceType is ${audienceType}${stored}`
  }
  for (const narrowing of NARROWINGS) {
    if (changes[narrowing.field] == null || narrowing.fits === audienceType) continue
    throw invalidField(narrowing.field, 'custom', other(narrowing))
  }
}

/** Lists the given fields that an audience of everybody does not use. */
export function listIgnored(changes: CampaignChanges): Narrowing['field'][] {
  if (changes.audienceType !== 'ALL') return []
  return NARROWINGS.map(({ field }) => field).filter((field) => changes[field] != null)
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

/** A time in the record of a campaign that nobody has scheduled. */
export function scheduleBySending(): AppError {
  return new AppError('BAD_REQUEST', 'Only a scheduled campaign has a time.', {
    suggestion:
      'Leave the time out here. POST /campaigns/:id/send with {"scheduledFor": "…"} schedules the campaign.',
  })
}
