import type { SegmentRecord } from '../../../records/segment.ts'
import { octets } from '../../../store/dialect.ts'
import { desc, eq, inArray, sql } from '../../../store/drizzle.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { Base } from '../../ground/base.ts'
import { type Listing, wholeListing } from '../../ground/listing.ts'
import { toSegmentRecord } from './view.ts'

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
