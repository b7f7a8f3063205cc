/**
 * Counts the contacts of a segment. The count of a dynamic segment is refreshed from time to time,
 * on a scan thread. The count of a static segment changes with its members; here it is only
 * corrected.
 */
import { indexedBy } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { type Segment, segments } from '../../../store/schema/segments.ts'
import type { Base } from '../../ground/base.ts'
import { countContacts } from '../contacts/list/count.ts'
import type { Seen } from './caused-changes.ts'
import { contactScopeOf } from './contact-scope.ts'
import { findSegment, hasConditionOf, isSegment, loadSegment } from './get.ts'
import { afterRuleChange, findRuleChange } from './rule-change.ts'
import type { SegmentKey } from './view.ts'

export type CountDeps = Pick<Base, 'store' | 'sharedRuns' | 'now'>

/** The maximum age of a dynamic segment's count that is used as the total of a list. */
const MAX_AGE_MS = 300_000

/** Counts again. @throws AppError RESOURCE_NOT_FOUND; BAD_REQUEST for an invalid condition */
export async function refreshSegment(
  deps: CountDeps,
  key: SegmentKey,
): Promise<{ memberCount: number }> {
  return { memberCount: await countSegment(deps, await loadSegment(deps.store.read, key)) }
}

/**
 * Counts, and saves the count unless the condition has changed meanwhile. Concurrent calls share
 * one run, which reads the segment when it starts, because the last caller may have just changed
 * it.
 */
export async function countSegment(deps: CountDeps, key: SegmentKey): Promise<number> {
  return deps.sharedRuns.take(`count ${key.id}`, async () => {
    const segment = await loadSegment(deps.store.read, key)
    return segment.type === 'STATIC' ? correctCount(deps, segment) : countMatches(deps, segment)
  })
}

/** Returns a count that is at most five minutes old. Concurrent calls share one count. */
export async function findRecentCount(deps: CountDeps, segment: Segment): Promise<number> {
  if (isRecent(deps, segment)) return segment.memberCount
  return deps.sharedRuns.take(`total ${segment.id}`, async () => {
    const current = await loadSegment(deps.store.read, segment)
    return isRecent(deps, current) ? current.memberCount : countSegment(deps, current)
  })
}

function isRecent({ now }: CountDeps, { type, countedAt }: Segment): boolean {
  return type === 'STATIC' || now() - (countedAt ?? 0) <= MAX_AGE_MS
}

async function countMatches(deps: CountDeps, segment: Segment): Promise<number> {
  const countedAt = deps.now()
  const scope = await contactScopeOf(deps, segment)
  const memberCount = await countContacts(deps, scope)
  const rules = await findRules(deps, segment, { memberCount, at: countedAt })
  await saveCount(deps, segment, { memberCount, countedAt, ...rules })
  return memberCount
}

/** A segment with membership events gets new rules with the next computation. */
async function findRules(
  deps: CountDeps,
  segment: Segment,
  { memberCount, at }: { memberCount: number; at: number },
): Promise<ReturnType<typeof afterRuleChange>> {
  const change = segment.hasMembershipEvents ? undefined : await findRuleChange(deps, segment)
  if (change === undefined) return {}
  const { projectId } = segment
  const isTouched =
    change.changed !== undefined &&
    memberCount !== segment.memberCount &&
    (await countContacts(deps, { projectId, condition: change.changed.isTouched })) > 0
  return afterRuleChange(segment, change, { memberCount, at, isTouched })
}

/** Returns false when the condition has changed since the count, or the segment was deleted. */
export async function saveCount(
  { store }: Pick<Base, 'store'>,
  counted: Segment,
  count: Pick<Segment, 'memberCount' | 'countedAt'> &
    ReturnType<typeof afterRuleChange> &
    Partial<Seen>,
): Promise<boolean> {
  return store.write(async (tx) => {
    const current = await findSegment(tx, counted)
    if (current === undefined || !hasConditionOf(current, counted)) return false
    await tx.update(segments).set(count).where(isSegment(counted))
    return true
  })
}

/** Both numbers come from one snapshot, so concurrent changes of the count stay. */
async function correctCount({ store, now }: CountDeps, { id }: Segment): Promise<number> {
  const [row] = await store.scan.all<{ counted: number; surplus: number }>(
    sql`select counted, counted - member_count as surplus
      from segments, (select count(*) as counted from segment_members
        ${indexedBy('segment_members_newest')} where segment_id = ${id} and exited_at is null)
      where id = ${id}`,
  )
  const { counted, surplus } = row ?? { counted: 0, surplus: 0 }
  const memberCount = sql`${segments.memberCount} + ${surplus}`
  await store.write((tx) =>
    tx.update(segments).set({ memberCount, countedAt: now() }).where(sql`${segments.id} = ${id}`),
  )
  return counted
}
