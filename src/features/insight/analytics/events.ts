/** How often each event happened in a range and in the equal one before it. */
import type { EventFigures } from '../../../records/analytics.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import {
  type AnalyticsDeps,
  type AnalyticsQuery,
  bothPeriods,
  SEGMENT,
  subjectRows,
} from './read-counts.ts'

/** The most frequent first. Events count by their own instant; names that lists omit are left out. */
export async function findEvents(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream, limit }: AnalyticsQuery & { limit: number },
): Promise<EventFigures[]> {
  const spans = bothPeriods(range, now())
  const sumOf = (segment: number) =>
    sql`coalesce(sum(counts.events) filter (where ${SEGMENT} = ${sql.raw(String(segment))}), 0)`
  return store.scan.all<EventFigures>(
    sql`select nullif(subjects.name, '') as name, count, "previousCount"
      from (
        select counts.subject, ${sumOf(1)} as count, ${sumOf(0)} as "previousCount"
        ${subjectRows('event_counts', { projectId, stream, spans })} group by counts.subject
      ) as happened
      join analytics_subjects as subjects on subjects.id = happened.subject
      where subjects.name not in ${listOf(UNLISTED_EVENTS)}
      order by count desc, "previousCount" desc, subjects.name limit ${sql.raw(String(limit))}`,
  )
}
