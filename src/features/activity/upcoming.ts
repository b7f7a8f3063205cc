/** Lists what is scheduled for the future, soonest first, merged from all sources. */
import { DAY_MS } from '../../clock.ts'
import type { Base } from '../base.ts'
import type { Activity } from './entry.ts'
import { ACTIVITY_SOURCES } from './sources.ts'
import type { UpcomingSource } from './upcoming-source.ts'

const UPCOMING_SOURCES = ACTIVITY_SOURCES.flatMap(({ listUpcoming }) => listUpcoming ?? [])

export async function listUpcoming(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  {
    limit,
    daysAhead,
    sources = UPCOMING_SOURCES,
  }: { limit: number; daysAhead: number; sources?: readonly UpcomingSource[] },
): Promise<Activity[]> {
  const from = deps.now()
  const query = { projectId, from, until: from + daysAhead * DAY_MS, limit }
  const lists = await Promise.all(sources.map((source) => source(deps, query)))
  return lists.flat().sort(soonestFirst).slice(0, limit)
}

/** Timestamps have one format, so they compare as text. */
function soonestFirst(one: Activity, other: Activity): number {
  const [left, right] = [`${one.timestamp} ${one.id}`, `${other.timestamp} ${other.id}`]
  if (left === right) return 0
  return left < right ? -1 : 1
}
