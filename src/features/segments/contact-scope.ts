import { type SQL, sql } from '../../store/drizzle.ts'
import type { Segment } from '../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import { compileCondition } from '../conditions/compile.ts'
import type { Condition } from '../conditions/condition.ts'
import type { ContactScope } from '../contacts/list/scope.ts'

/**
 * Who is in it, for walks and counts: of a static one its members, of a dynamic one whom its
 * condition matches now, whether or not membership is tracked.
 * @throws AppError BAD_REQUEST when its condition refers to a segment that is gone
 */
export async function contactScopeOf(
  deps: Pick<Base, 'store' | 'now'>,
  segment: Segment,
): Promise<ContactScope> {
  const { projectId } = segment
  if (segment.type === 'STATIC') return { projectId, condition: isMember(segment.id) }
  return { projectId, condition: await compileSegment(deps, segment) }
}

/** The condition of a dynamic one. @throws AppError BAD_REQUEST as `scopeOfSegment` */
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

/** True of the rows of `contacts` that are members by their own row. */
function isMember(segmentId: string): SQL {
  return sql`exists (select 1 from segment_members as member
    where member.segment_id = ${segmentId} and member.contact_id = contacts.id
      and member.exited_at is null)`
}
