/** A segment as the API returns it. */

import { formatInstant } from '../../../base/clock.ts'
import { type AppError, notFound } from '../../../base/errors.ts'
import type { SegmentRecord } from '../../../records/segment.ts'
import type { FilterChange } from '../../../store/schema/json-values.ts'
import type { Segment } from '../../../store/schema/segments.ts'

/** A segment of a project. Another project's segment counts as unknown. */
export type SegmentKey = { projectId: string; id: string }

export function toSegmentRecord(segment: Segment): SegmentRecord {
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

function toChangeView(change: FilterChange | null): Pick<SegmentRecord, 'filterChange'> {
  return change === null ? {} : { filterChange: { ...change, at: formatInstant(change.at) } }
}

export function segmentNotFound(id: string): AppError {
  return notFound('segment', id, 'No segment of this project has that id.')
}
