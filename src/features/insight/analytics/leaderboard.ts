/** The campaigns, templates or workflows of a range with the highest value of a metric. */
import type { LeaderboardFigures } from '../../../records/analytics.ts'
import { sql } from '../../../store/drizzle.ts'
import type { AnalyticsKind } from '../../../store/schema/words.ts'
import type { MailCounts } from './mail-counts.ts'
import { MAIL_SUMS, type MetricName, metricTerm, toMetrics } from './metrics.ts'
import { type AnalyticsDeps, type AnalyticsQuery, currentPeriod, mailRows } from './read-counts.ts'

type Board = LeaderboardFigures['kind']
type LeaderboardQuery = AnalyticsQuery & { kind: Board; sort: MetricName; limit: number }
type Row = MailCounts & { id: string; name: string | null }

const SUBJECTS: Record<Board, AnalyticsKind> = {
  campaigns: 'campaign',
  templates: 'template',
  workflows: 'workflow',
}

export async function findLeaderboard(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream, kind, sort, limit }: LeaderboardQuery,
): Promise<LeaderboardFigures> {
  const counts = { projectId, stream, spans: currentPeriod(range, now()) }
  const rows = await store.scan.all<Row>(
    sql`select subjects.name as id, records.name as name, board.*
      from (
        select counts.subject, ${MAIL_SUMS} ${mailRows(SUBJECTS[kind], counts)}
        group by counts.subject having sum(counts.sent) > 0
        order by ${metricTerm(sort)} desc nulls last, sum(counts.sent) desc, counts.subject
        limit ${sql.raw(String(limit))}
      ) as board
      join analytics_subjects as subjects on subjects.id = board.subject
      left join ${sql.raw(kind)} as records
        on records.id = subjects.name and records.project_id = subjects.project_id`,
  )
  return {
    kind,
    rows: rows.map((row) => ({ id: row.id, name: row.name, ...toMetrics(row) })),
  }
}
