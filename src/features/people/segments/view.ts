/** A segment as the API returns it. */
import { formatInstant } from '../../../base/clock.ts'
import { type AppError, notFound } from '../../../base/errors.ts'
import type { FilterChange } from '../../../store/schema/json-values.ts'
import type { Segment } from '../../../store/schema/segments.ts'
import type { SegmentType } from '../../../store/schema/words.ts'

export type SegmentView = {
  id: string
  name: string
  description: string | null
  type: SegmentType
  /** Null for a STATIC segment. */
  condition: unknown
  trackMembership: boolean
  /** From the last count: some minutes old for a DYNAMIC segment, exact for a STATIC one. */
  memberCount: number
  /** What new rules of filters changed at the upgrade; absent if nothing, or with a later condition. */
  filterChange?: FilterChangeView
  projectId: string
  createdAt: string
  updatedAt: string
}

type FilterChangeView = Omit<FilterChange, 'at'> & { at: string }

/** A segment of a project. Another project's segment counts as unknown. */
export type SegmentKey = { projectId: string; id: string }

export function toSegmentView(segment: Segment): SegmentView {
  return {
    id: segment.id,
    name: segment.name,
    description: segment.description,
    type: segment.type,
    condition: segment.condition,
    trackMembership: segment.hasMembershipEvents,
    memberCount: segment.memberCount,
    ...toChangeView(segment.filterChange),
    projectId: segment.projectId,
    createdAt: formatInstant(segment.createdAt),
    updatedAt: formatInstant(segment.updatedAt),
  }
}

function toChangeView(change: FilterChange | null): Pick<SegmentView, 'filterChange'> {
  return change === null ? {} : { filterChange: { ...change, at: formatInstant(change.at) } }
}

export function segmentNotFound(id: string): AppError {
  return notFound('segment', id, 'No segment of this project has that id.')
}
