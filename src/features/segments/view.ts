/** A segment as the API returns it. */
import { formatInstant } from '../../clock.ts'
import { type AppError, notFound } from '../../errors.ts'
import type { Segment } from '../../store/schema/segments.ts'
import type { SegmentType } from '../../store/schema/words.ts'

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
  projectId: string
  createdAt: string
  updatedAt: string
}

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
    projectId: segment.projectId,
    createdAt: formatInstant(segment.createdAt),
    updatedAt: formatInstant(segment.updatedAt),
  }
}

export function segmentNotFound(id: string): AppError {
  return notFound('segment', id, 'No segment of this project has that id.')
}
