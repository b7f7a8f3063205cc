/** The most frequent events of a range, as older clients of this API family read them. */
import type { TopEvent } from '../../../records/analytics-days.ts'
import { findEvents } from './events.ts'
import type { AnalyticsDeps, AnalyticsQuery } from './read-counts.ts'

const NEW_TREND = 100

export async function findTopEvents(
  deps: AnalyticsDeps,
  query: AnalyticsQuery & { limit: number },
): Promise<TopEvent[]> {
  // One more, because further names together have no name.
  const found = await findEvents(deps, { ...query, limit: query.limit + 1 })
  const named = found.flatMap(({ name, count, previousCount }) =>
    name === null || count === 0 ? [] : [{ name, count, trend: trendOf(count, previousCount) }],
  )
  return named.slice(0, query.limit)
}

function trendOf(count: number, previousCount: number): number {
  if (previousCount === 0) return NEW_TREND
  return Math.round((100 * (count - previousCount)) / previousCount)
}
