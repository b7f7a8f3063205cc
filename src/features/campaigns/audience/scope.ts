/** The contacts that a campaign is meant for. */
import { AppError } from '../../../errors.ts'
import type { Campaign } from '../../../store/schema/campaigns.ts'
import type { Base } from '../../base.ts'
import { compileCondition } from '../../conditions/compile.ts'
import type { Condition } from '../../conditions/condition.ts'
import type { ContactScope } from '../../contacts/list/scope.ts'
import { contactScopeOf } from '../../segments/contact-scope.ts'
import { findSegment } from '../../segments/get.ts'

/**
 * Returns the audience as a scope for walks and counts. Whether a contact is subscribed does not
 * matter here.
 * @throws AppError BAD_REQUEST when the segment is missing, or the condition cannot be compiled
 */
export async function audienceScope(
  deps: Pick<Base, 'store' | 'now'>,
  campaign: Pick<Campaign, 'projectId' | 'audienceType' | 'audienceCondition' | 'segmentId'>,
): Promise<ContactScope> {
  const { projectId, audienceType, audienceCondition } = campaign
  if (audienceType === 'ALL') return { projectId }
  if (audienceType === 'SEGMENT') return scopeOfSegment(deps, campaign)
  const condition = audienceCondition as Condition | null
  if (condition === null) throw new AppError('BAD_REQUEST', 'The campaign has no condition.')
  return { projectId, condition: await compileCondition(deps, { projectId, condition }) }
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
