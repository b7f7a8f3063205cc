/**
 * Lists what is scheduled for the future, soonest first, merged from all sources, and what goes on beside it:
 * the latter takes the room that scheduled sends leave, so that it never hides them.
 */
import { DAY_MS } from '../../../base/clock.ts'
import type { ActivityRecord } from '../../../records/activity.ts'
import type { Base } from '../../ground/base.ts'
import { ACTIVITY_SOURCES } from './sources.ts'
import type { UpcomingSource } from './upcoming-source.ts'

const UPCOMING_SOURCES = ACTIVITY_SOURCES.flatMap(({ listUpcoming }) => listUpcoming ?? [])
const ACTIVE_SOURCES = ACTIVITY_SOURCES.flatMap(({ listActive }) => listActive ?? [])

export async function listUpcoming(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  {
    limit,
    daysAhead,
    sources = UPCOMING_SOURCES,
    activeSources = ACTIVE_SOURCES,
  }: UpcomingRange & Partial<Record<'sources' | 'activeSources', readonly UpcomingSource[]>>,
): Promise<ActivityRecord[]> {
  const from = deps.now()
  const query = { projectId, from, until: from + daysAhead * DAY_MS, limit }
  const lists = await Promise.all(sources.map((source) => source(deps, query)))
  const sends = lists.flat().sort(soonestFirst).slice(0, limit)
  const room = limit - sends.length
  if (room === 0) return sends
  const active = await Promise.all(
    activeSources.map((source) => source(deps, { ...query, limit: room })),
  )
  const [undated, dated] = partition(active.flat().slice(0, room))
  return [...[...sends, ...dated].sort(soonestFirst), ...undated]
}

type UpcomingRange = { limit: number; daysAhead: number }

/** Those that have no time, and the others. */
function partition(activities: readonly ActivityRecord[]): [ActivityRecord[], ActivityRecord[]] {
  const isUndated = ({ metadata }: ActivityRecord) => metadata.dueAt === null
  return [activities.filter(isUndated), activities.filter((each) => !isUndated(each))]
}

/** Timestamps have one format, so they compare as text. */
function soonestFirst(one: ActivityRecord, other: ActivityRecord): number {
  const [left, right] = [`${one.timestamp} ${one.id}`, `${other.timestamp} ${other.id}`]
  if (left === right) return 0
  return left < right ? -1 : 1
}
