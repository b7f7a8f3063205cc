import { type SQL, sql } from '../../store/drizzle.ts'
import type { Segment } from '../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import { compileCondition } from '../conditions/compile.ts'
import type { Condition } from '../conditions/condition.ts'
import type { ContactScope } from '../contacts/list/scope.ts'

/**
 * Returns the contacts of a segment as a scope for walks and counts: the members of a static
 * segment; for a dynamic segment, with or without membership events, the contacts that match its
 * condition now.
 * @throws AppError BAD_REQUEST when the condition refers to a deleted segment
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
  { id, projectId, condition }: Segment,
): Promise<SQL> {
  return compileCondition(deps, {
    projectId,
    condition: condition as Condition,
    ofSegmentId: id,
  })
}

/** An expression that is true for rows of `contacts` with a current member row. */
function isMember(segmentId: string): SQL {
  return sql`exists (select 1 from segment_members as member
    where member.segment_id = ${segmentId} and member.contact_id = contacts.id
      and member.exited_at is null)`
}
