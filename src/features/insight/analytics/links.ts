/** The links that were clicked in the mail of a range, those with most clicks first. */
import type { LinkFigures } from '../../../records/analytics.ts'
import { sql } from '../../../store/drizzle.ts'
import {
  type AnalyticsDeps,
  type AnalyticsQuery,
  currentPeriod,
  subjectRows,
} from './read-counts.ts'

type Row = LinkFigures['links'][number] & { totalClicks: number }

export async function findLinks(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream, limit }: AnalyticsQuery & { limit: number },
): Promise<LinkFigures> {
  const spans = currentPeriod(range, now())
  const rows = await store.scan.all<Row>(
    sql`select nullif(subjects.name, '') as url, clicks, "uniqueClickers", "totalClicks"
      from (
        select counts.subject, sum(counts.clicks) as clicks,
          sum(counts.first_clicks) as "uniqueClickers",
          sum(sum(counts.clicks)) over () as "totalClicks"
        ${subjectRows('link_counts', { projectId, stream, spans })} group by counts.subject
        order by 2 desc, 3 desc, counts.subject limit ${sql.raw(String(limit))}
      ) as links
      join analytics_subjects as subjects on subjects.id = links.subject
      order by clicks desc, "uniqueClickers" desc, links.subject`,
  )
  return {
    totalClicks: rows[0]?.totalClicks ?? 0,
    links: rows.map(({ url, clicks, uniqueClickers }) => ({ url, clicks, uniqueClickers })),
  }
}
