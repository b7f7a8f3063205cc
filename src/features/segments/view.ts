/** A segment as the API shows it. */
import { formatInstant } from '../../clock.ts'
import { type AppError, notFound } from '../../errors.ts'
import type { Segment } from '../../store/schema/segments.ts'
import type { SegmentType } from '../../store/schema/words.ts'

export type SegmentView = {
  id: string
  name: string
  description: string | null
  type: SegmentType
  /** Null of a static one. */
  condition: unknown
  trackMembership: boolean
  /** As of the last count: of a dynamic one some minutes old, of a static one exact. */
  memberCount: number
  projectId: string
  createdAt: string
  updatedAt: string
}

/** One segment of one project: an id of another project's is as good as none. */
export type SegmentTarget = { projectId: string; id: string }

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
