/**
 * Checks the segments that a segment's condition refers to. The check is repeated in the
 * transaction that saves the segment, because they may have changed since the condition was
 * compiled.
 */
import { AppError } from '../../../base/errors.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type Condition, listReferences } from '../../ground/conditions/condition.ts'
import { findSegment } from './get.ts'

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

type ConditionOf = { projectId: string; condition: Condition; ofSegmentId?: string }

/** Stored conditions are results of `parseCondition`. */
function segmentsOf(condition: unknown): string[] {
  return condition === null ? [] : listReferences(condition as Condition).segments
}

function referenceNotFound(resource: 'segment' | 'campaign', id: string): AppError {
  const text = `The condition refers to a ${resource} that this project does not have.`
  return new AppError('BAD_REQUEST', text, { details: { resource, id } })
}
