/** Reads the segments of a project: one as a row or as the API shows it, or all of them. */
import { formatInstant } from '../../../base/clock.ts'
import { type AppError, notFound } from '../../../base/errors.ts'
import type { SegmentRecord } from '../../../records/segment.ts'
import { octets } from '../../../store/dialect.ts'
import { and, desc, eq, inArray, type SQL, sql } from '../../../store/drizzle.ts'
import type { FilterChange } from '../../../store/schema/json-values.ts'
import { type Segment, segments } from '../../../store/schema/segments.ts'
import type { Queries } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { type Listing, wholeListing } from '../../ground/listing.ts'

/** A segment of a project. Another project's segment counts as unknown. */
export type SegmentKey = { projectId: string; id: string }

/** @throws AppError RESOURCE_NOT_FOUND */
export async function loadSegmentRecord(
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

/**
 * Lists all segments of a project, newest first. They are found with their sizes, then read slice by slice,
 * as their reader takes them.
 */
export async function listSegments(
  { store }: Pick<Base, 'store'>,
  { projectId }: { projectId: string },
): Promise<Listing<SegmentRecord, object>> {
  const lines = await store.scan
    .select({ id: segments.id, bytes: sql<number>`coalesce(${octets(segments.condition)}, 0)` })
    .from(segments)
    .where(eq(segments.projectId, projectId))
    .orderBy(desc(segments.createdAt), desc(segments.id))
  return wholeListing({
    lines,
    bytesOf: ({ bytes }) => bytes,
    async read(slice) {
      const ids = slice.map(({ id }) => id)
      const rows = await store.scan.select().from(segments).where(inArray(segments.id, ids))
      const byId = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => {
        const row = byId.get(id)
        return row && toSegmentRecord(row)
      })
    },
  })
}

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

function segmentNotFound(id: string): AppError {
  return notFound('segment', id, 'No segment of this project has that id.')
}
