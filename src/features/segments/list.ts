import { desc, eq } from '../../store/drizzle.ts'
import { segments } from '../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import { type SegmentView, toSegmentView } from './view.ts'

/** Lists all segments of a project, newest first. */
export async function listSegments(
  { store }: Pick<Base, 'store'>,
  { projectId }: { projectId: string },
): Promise<SegmentView[]> {
  const rows = await store.scan
    .select()
    .from(segments)
    .where(eq(segments.projectId, projectId))
    .orderBy(desc(segments.createdAt), desc(segments.id))
  return rows.map(toSegmentView)
}
