/**
 * References of conditions to segments and campaigns: the segments that refer to an object, and the
 * check of the references of a segment. The check is repeated in the transaction that saves the
 * segment, because the objects may have changed since the condition was compiled.
 */
import { AppError } from '../../../base/errors.ts'
import { contains } from '../../../store/dialect.ts'
import { and, asc, eq, isNotNull, sql } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { Queries, Tx } from '../../../store/write/transaction.ts'
import { type Condition, listReferences } from '../../ground/conditions/condition.ts'
import type { Reference, ReferenceQuery, ReferenceSource } from '../../ground/manifest/reference.ts'
import { doesRefer } from '../../ground/references/registry.ts'
import { findSegment } from './segments.ts'

export const SEGMENT_REFERENCES: readonly ReferenceSource[] = [
  {
    column: 'segments.condition',
    label: 'segments',
    refersTo: ['segment', 'event', 'data field', 'standard field'],
    find: findSegments,
  },
]

type ConditionOf = { projectId: string; condition: Condition; ofSegmentId?: string }

/**
 * Requires that the segments and campaigns of the condition exist, and that no segment leads back to
 * `ofSegmentId`.
 * @throws AppError BAD_REQUEST
 */
export async function requireReferences(
  queries: Pick<Tx, 'select'>,
  { projectId, condition, ofSegmentId }: ConditionOf,
): Promise<void> {
  const named = new Set(segmentsOf(condition))
  const reached = new Set(named)
  // The loop also visits the ids that it adds.
  for (const id of reached) {
    if (id === ofSegmentId) throw new AppError('BAD_REQUEST', 'A segment cannot depend on itself.')
    const segment = await findSegment(queries, { projectId, id })
    if (segment === undefined && named.has(id)) throw referenceNotFound('segment', id)
    for (const next of segmentsOf(segment?.condition ?? null)) reached.add(next)
  }
  for (const id of listReferences(condition).campaigns) {
    const isOurs = and(eq(campaigns.id, id), eq(campaigns.projectId, projectId))
    const found = await queries.select({ id: campaigns.id }).from(campaigns).where(isOurs).get()
    if (found === undefined) throw referenceNotFound('campaign', id)
  }
}

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

/** Stored conditions are results of `parseCondition`. */
function segmentsOf(condition: unknown): string[] {
  return condition === null ? [] : listReferences(condition as Condition).segments
}

function referenceNotFound(resource: 'segment' | 'campaign', id: string): AppError {
  const text = `The condition refers to a ${resource} that this project does not have.`
  return new AppError('BAD_REQUEST', text, { details: { resource, id } })
}
