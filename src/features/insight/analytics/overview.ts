/** The figures of all mail of a range, beside those of the equal range before it. */
import type { OverviewFigures } from '../../../records/analytics.ts'
import { ANALYTICS_STREAMS } from '../../../records/words.ts'
import { sql } from '../../../store/drizzle.ts'
import type { AnalyticsStream } from '../../../store/schema/words.ts'
import { addMail, type MailCounts, NO_MAIL } from './mail-counts.ts'
import { MAIL_SUMS, toMetrics } from './metrics.ts'
import {
  type AnalyticsDeps,
  type AnalyticsQuery,
  bothPeriods,
  mailRows,
  SEGMENT,
} from './read-counts.ts'

type Row = MailCounts & { segment: 0 | 1; stream: AnalyticsStream }

export async function findOverview(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream }: AnalyticsQuery,
): Promise<OverviewFigures> {
  const spans = bothPeriods(range, now())
  const rows = await store.scan.all<Row>(
    sql`select ${SEGMENT} as segment, counts.stream, ${MAIL_SUMS}
      ${mailRows('all', { projectId, stream, spans })} group by 1, 2`,
  )
  const sumOf = (segment: number, only?: AnalyticsStream) =>
    rows
      .filter((row) => row.segment === segment && (only === undefined || row.stream === only))
      .reduce<Readonly<MailCounts>>(addMail, NO_MAIL)
  const wanted = ANALYTICS_STREAMS.filter((one) => stream === 'ALL' || stream === one)
  return {
    current: toMetrics(sumOf(1)),
    previous: toMetrics(sumOf(0)),
    streams: wanted.map((one) => ({ stream: one, ...toMetrics(sumOf(1, one)) })),
  }
}
