import type { SegmentRecord } from '../../../records/segment.ts'
import { and, eq, type SQL } from '../../../store/drizzle.ts'
import { type Segment, segments } from '../../../store/schema/segments.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { type SegmentKey, segmentNotFound, toSegmentRecord } from './view.ts'

/** A transaction or a read connection. */
type Queries = Pick<Tx, 'select'>

/** @throws AppError RESOURCE_NOT_FOUND */
export async function getSegment(
  { store }: Pick<Base, 'store'>,
  key: SegmentKey,
): Promise<SegmentRecord> {
  return toSegmentRecord(await loadSegment(store.read, key))
}

/** Returns the row. @throws AppError RESOURCE_NOT_FOUND */
export async function loadSegment(queries: Queries, key: SegmentKey): Promise<Segment> {
  const segment = await findSegment(queries, key)
  if (segment === undefined) throw segmentNotFound(key.id)
  return segment
}

/** Returns the row; undefined when the project has no segment of that id. */
export async function findSegment(queries: Queries, key: SegmentKey): Promise<Segment | undefined> {
  return queries.select().from(segments).where(isSegment(key)).get()
}

export function isSegment({ projectId, id }: SegmentKey): SQL | undefined {
  return and(eq(segments.id, id), eq(segments.projectId, projectId))
}

/** Whether two states of a segment have the same condition. */
export function hasConditionOf(one: Segment, other: Segment): boolean {
  return JSON.stringify(one.condition) === JSON.stringify(other.condition)
}
