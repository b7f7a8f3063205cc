/**
 * The scheduled refresh of all projects: computes the segments with membership events, and counts
 * the other dynamic segments.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import { and, asc, eq, isNull, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { segments } from '../../../store/schema/segments.ts'
import { alternate } from '../../../turns/alternate.ts'
import type { Base } from '../../ground/base.ts'
import { isFenced } from '../../ground/fence/rows.ts'
import { computeSegment } from './compute.ts'
import { countSegment } from './segment-contacts.ts'
import type { SegmentKey } from './segments.ts'
import { findSegment } from './segments.ts'

type Deps = Pick<Base, 'store' | 'sharedRuns' | 'now' | 'log'>

const ROUND_MS = 5 * MINUTE_MS

/**
 * Refreshes one segment after another, oldest count first, so that a round resumes where the last
 * one was interrupted. Projects alternate, and a round ends after five minutes, so that the next one
 * includes the segments of all projects again. Static segments need no refresh. The events of who came and went while a copy of
 * the database was away start workflows, so segments with events wait while a fence stands. A failure is logged, and the round
 * continues.
 * @throws the signal's reason when it aborts
 */
export async function refreshSegments(deps: Deps, signal: AbortSignal): Promise<void> {
  const { scan } = deps.store
  const endAt = deps.now() + ROUND_MS
  const keys: SegmentKey[] = await scan
    .select({ projectId: segments.projectId, id: segments.id })
    .from(segments)
    .innerJoin(projects, eq(projects.id, segments.projectId))
    .where(
      and(
        eq(segments.type, 'DYNAMIC'),
        isNull(projects.resetSince),
        isNull(projects.deletedAt),
        sql`not (${segments.hasMembershipEvents} and ${isFenced(sql`${segments.projectId}`)})`,
      ),
    )
    .orderBy(asc(segments.countedAt), asc(segments.id))
  for (const key of alternate(keys, ({ projectId }) => projectId)) {
    signal.throwIfAborted()
    if (deps.now() >= endAt) return
    try {
      await refreshOne(deps, key, signal)
    } catch (error) {
      signal.throwIfAborted()
      deps.log.warn({ error, segmentId: key.id }, 'a segment could not be refreshed')
    }
  }
}

async function refreshOne(deps: Deps, key: SegmentKey, signal: AbortSignal): Promise<void> {
  const segment = await findSegment(deps.store.read, key)
  if (segment === undefined) return
  if (segment.hasMembershipEvents) await computeSegment(deps, { ...key, signal })
  else await countSegment(deps, segment)
}
