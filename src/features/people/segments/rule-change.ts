/**
 * Finds what the present rules of filters change in a segment that was last computed by older
 * rules. Where old and new rules decide differently about a contact, the first computation moves
 * the contact without an event: the contact did nothing, so no workflow starts and no webhook is
 * told. The computation leaves a note on the segment.
 *
 * The segment counts as computed by the new rules only after all segments with member rows to which
 * its condition refers, because their members change without events too.
 */
import type { Segment } from '../../../store/schema/segments.ts'
import type { Base } from '../../ground/base.ts'
import {
  type ChangedFilters,
  FILTER_RULES,
  findChangedFilters,
} from '../../ground/conditions/changed-filters.ts'
import { loadReferencedSegments } from '../../ground/conditions/referenced-segments.ts'
import { readSegmentCondition } from './contact-scope.ts'

export type RuleChange = {
  /**
   * The filters that decide differently; undefined if old and new rules select the same contacts.
   */
  changed: ChangedFilters | undefined
  isLast: boolean
}

/** Returns undefined for a segment of the present rules. @throws AppError BAD_REQUEST as `compileSegment` */
export async function findRuleChange(
  { store }: Pick<Base, 'store'>,
  segment: Segment,
): Promise<RuleChange | undefined> {
  if (segment.filterRules >= FILTER_RULES) return undefined
  const { projectId, id: ofSegmentId, filterRules: rules } = segment
  const condition = readSegmentCondition(segment)
  const referenced = await loadReferencedSegments({ store }, { projectId, condition, ofSegmentId })
  return {
    changed: findChangedFilters(condition, { rules, segments: referenced }),
    isLast: [...referenced.values()].every(
      ({ hasMembers, condition: own, filterRules }) =>
        !hasMembers || own === undefined || filterRules >= FILTER_RULES,
    ),
  }
}

/** Returns the columns after a computation or a count. `isTouched`: whether the rules changed members. */
export function afterRuleChange(
  { memberCount: membersBefore, filterChange }: Segment,
  { changed, isLast }: RuleChange,
  {
    memberCount: membersAfter,
    at,
    isTouched,
  }: { memberCount: number; at: number; isTouched: boolean },
): Partial<Pick<Segment, 'filterRules' | 'filterChange'>> {
  const rules = isLast ? { filterRules: FILTER_RULES } : {}
  if (changed === undefined || !isTouched) return rules
  const before = filterChange?.membersBefore ?? membersBefore
  const { filters } = changed
  return { ...rules, filterChange: { at, membersBefore: before, membersAfter, filters } }
}
