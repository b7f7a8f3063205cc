/**
 * Segments that refer to segments. Checked again within the transaction that saves or deletes one:
 * what a condition was compiled against may be another by then.
 */
import { AppError } from '../../errors.ts'
import { contains } from '../../store/dialect.ts'
import { and, asc, eq, sql } from '../../store/drizzle.ts'
import { segments } from '../../store/schema/segments.ts'
import type { Tx } from '../../store/write/transaction.ts'
import { type Condition, listReferences } from '../conditions/condition.ts'
import { findSegment } from './get.ts'
import type { SegmentTarget } from './view.ts'

export type SegmentReference = { id: string; name: string }

/** The segments whose conditions name this one, by name. */
export async function listReferrers(tx: Tx, target: SegmentTarget): Promise<SegmentReference[]> {
  const named = await tx
    .select()
    .from(segments)
    .where(
      and(
        eq(segments.projectId, target.projectId),
        contains(sql`lower(${segments.condition})`, target.id),
      ),
    )
    .orderBy(asc(segments.name), asc(segments.id))
  return named
    .filter(({ condition }) => segmentsOf(condition).includes(target.id))
    .map(({ id, name }) => ({ id, name }))
}

/**
 * The segments that the condition names are there, and none leads back to `ofSegmentId`.
 * @throws AppError BAD_REQUEST
 */
export async function requireReferences(
  tx: Tx,
  { projectId, condition, ofSegmentId }: ConditionOf,
): Promise<void> {
  const named = new Set(segmentsOf(condition))
  const reached = new Set(named)
  // What is found on the way is looked at in its turn.
  for (const id of reached) {
    if (id === ofSegmentId) throw new AppError('BAD_REQUEST', 'A segment cannot depend on itself.')
    const segment = await findSegment(tx, { projectId, id })
    if (segment === undefined && named.has(id)) throw noSuchReference(id)
    for (const next of segmentsOf(segment?.condition ?? null)) reached.add(next)
  }
}

type ConditionOf = { projectId: string; condition: Condition; ofSegmentId?: string }

/** Stored conditions are as `parseCondition` gave them. */
function segmentsOf(condition: unknown): string[] {
  return condition === null ? [] : listReferences(condition as Condition).segments
}

function noSuchReference(id: string): AppError {
  const text = 'The condition refers to a segment that this project does not have.'
  return new AppError('BAD_REQUEST', text, { details: { resource: 'segment', id } })
}
