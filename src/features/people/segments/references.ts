/** Finds the segments whose conditions refer to an object. */
import { contains } from '../../../store/dialect.ts'
import { and, asc, eq, isNotNull, sql } from '../../../store/drizzle.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { Condition } from '../../ground/conditions/condition.ts'
import type {
  Queries,
  Reference,
  ReferenceQuery,
  ReferenceSource,
} from '../../ground/manifest/reference.ts'
import { doesRefer } from '../../ground/references/registry.ts'

export const SEGMENT_REFERENCES: readonly ReferenceSource[] = [
  {
    column: 'segments.condition',
    label: 'segments',
    refersTo: ['segment', 'event', 'data field', 'standard field'],
    find: findSegments,
  },
]

async function findSegments(
  queries: Queries,
  { projectId, referent, limit }: ReferenceQuery,
): Promise<Reference[]> {
  const rows = await queries
    .select({ id: segments.id, name: segments.name, condition: segments.condition })
    .from(segments)
    .where(
      and(
        eq(segments.projectId, projectId),
        isNotNull(segments.condition),
        referent.kind === 'segment'
          ? contains(sql`lower(${segments.condition})`, referent.id)
          : undefined,
      ),
    )
    .orderBy(asc(segments.createdAt), asc(segments.id))
  return rows
    .filter(({ condition }) => doesRefer(condition as Condition, referent))
    .slice(0, limit)
    .map(({ id, name }) => ({ id, name }))
}
