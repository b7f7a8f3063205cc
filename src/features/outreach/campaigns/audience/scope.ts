/** The contacts that a campaign is meant for. */
import { AppError } from '../../../../base/errors.ts'
import { and, sql } from '../../../../store/drizzle.ts'
import type { Campaign } from '../../../../store/schema/campaigns.ts'
import type { Base } from '../../../ground/base.ts'
import { compileCondition } from '../../../ground/conditions/compile.ts'
import { readStoredCondition } from '../../../ground/conditions/condition.ts'
import type { ContactScope } from '../../../people/contacts/list/scope.ts'
import { contactScopeOf } from '../../../people/segments/contact-scope.ts'
import { findSegment } from '../../../people/segments/segments.ts'

/** What defines the audience of a campaign. */
export type CampaignAudience = Pick<
  Campaign,
  'projectId' | 'audienceType' | 'audienceCondition' | 'segmentId'
>

/**
 * Returns the audience as a scope for walks and counts. Whether a contact is subscribed does not
 * matter here.
 * @throws AppError BAD_REQUEST when the segment is missing, or the condition cannot be compiled
 */
export async function audienceScope(
  deps: Pick<Base, 'store' | 'now'>,
  campaign: CampaignAudience,
): Promise<ContactScope> {
  const { projectId, audienceType, audienceCondition } = campaign
  if (audienceType === 'ALL') return { projectId }
  if (audienceType === 'SEGMENT') return scopeOfSegment(deps, campaign)
  const condition = readStoredCondition(audienceCondition, 'The campaign')
  return { projectId, condition: await compileCondition(deps, { projectId, condition }) }
}

/** Returns the contacts of the scope who would get a campaign of this type now. */
export function recipientScope(scope: ContactScope, type: Campaign['type']): ContactScope {
  const isAllowed = sql`not exists (select 1 from suppressions
    where suppressions.project_id = contacts.project_id and suppressions.email = contacts.email)`
  const subscribed = type === 'TRANSACTIONAL' ? undefined : true
  return { ...scope, condition: and(scope.condition, isAllowed), subscribed }
}

/**
 * Names the contacts that `recipientScope` leaves out, to complete a sentence such as `who is
 * suppressed is left out`.
 */
export function describeLeftOut(type: Campaign['type']): string {
  const who = type === 'TRANSACTIONAL' ? 'suppressed' : 'unsubscribed or suppressed'
  return `who is ${who} is left out`
}

async function scopeOfSegment(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, segmentId }: Pick<Campaign, 'projectId' | 'segmentId'>,
): Promise<ContactScope> {
  const segment =
    segmentId === null
      ? undefined
      : await findSegment(deps.store.read, { projectId, id: segmentId })
  if (segment !== undefined) return contactScopeOf(deps, segment)
  throw new AppError('BAD_REQUEST', 'The segment of the campaign does not exist.')
}
