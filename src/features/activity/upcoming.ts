/**
 * What is going to happen (contract 15.1), soonest first. Whatever has a time in the future to show
 * is a source; each brings its own query, and sources are merged here.
 */
import { DAY_MS } from '../../clock.ts'
import type { Base } from '../base.ts'
import type { Activity } from './entry.ts'

/** Both in epoch ms: after `from`, at the latest at `until`. */
export type UpcomingQuery = { projectId: string; from: number; until: number; limit: number }

/** At most `limit` lines, soonest first. */
export type UpcomingSource = (
  deps: Pick<Base, 'store'>,
  query: UpcomingQuery,
) => Promise<Activity[]>

/** Scheduled campaigns and the emails of workflows: none before there are either. */
const sources: readonly UpcomingSource[] = []

export async function listUpcoming(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  asked: { limit: number; daysAhead: number; sources?: readonly UpcomingSource[] },
): Promise<Activity[]> {
  const from = deps.now()
  const until = from + asked.daysAhead * DAY_MS
  const query = { projectId, from, until, limit: asked.limit }
  const found = await Promise.all((asked.sources ?? sources).map((source) => source(deps, query)))
  return found.flat().sort(soonestFirst).slice(0, asked.limit)
}

/** Instants of one form compare as text. */
function soonestFirst(one: Activity, other: Activity): number {
  const [left, right] = [`${one.timestamp} ${one.id}`, `${other.timestamp} ${other.id}`]
  if (left === right) return 0
  return left < right ? -1 : 1
}
