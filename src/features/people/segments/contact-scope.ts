/** The contacts of a segment as a scope of queries, and the condition of a dynamic segment. */
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Segment } from '../../../store/schema/segments.ts'
import type { Base } from '../../ground/base.ts'
import { compileCondition } from '../../ground/conditions/compile.ts'
import { type Condition, readStoredCondition } from '../../ground/conditions/condition.ts'
import { shortenForError } from '../../ground/conditions/field-errors.ts'
import type { ContactScope } from '../contacts/list/scope.ts'

/**
 * Returns the contacts of a segment as a scope for walks and counts: the members of a static
 * segment; for a dynamic segment, with or without membership events, the contacts that match its
 * condition now.
 * @throws AppError BAD_REQUEST when the condition is damaged or leads to a deleted segment
 */
export async function contactScopeOf(
  deps: Pick<Base, 'store' | 'now'>,
  segment: Segment,
): Promise<ContactScope> {
  const { projectId } = segment
  if (segment.type === 'STATIC') return { projectId, condition: isMember(segment.id) }
  return { projectId, condition: await compileSegment(deps, segment) }
}

/** Compiles the condition of a dynamic segment. @throws AppError BAD_REQUEST as `contactScopeOf` */
export async function compileSegment(
  deps: Pick<Base, 'store' | 'now'>,
  segment: Segment,
): Promise<SQL> {
  const { id: ofSegmentId, projectId } = segment
  const condition = readSegmentCondition(segment)
  return compileCondition(deps, { projectId, condition, ofSegmentId })
}

/** Reads the condition of a dynamic segment. @throws AppError BAD_REQUEST for a damaged one */
export function readSegmentCondition({ name, condition }: Segment): Condition {
  return readStoredCondition(condition, `The segment "${shortenForError(name)}"`)
}

/** Returns an SQL expression that is true for rows of `contacts` with a current member row. */
function isMember(segmentId: string): SQL {
  return sql`exists (select 1 from segment_members as member
    where member.segment_id = ${segmentId} and member.contact_id = contacts.id
      and member.exited_at is null)`
}
