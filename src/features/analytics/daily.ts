/** The figures of mail by UTC days, in the words of older clients of this API family. */
import { formatInstant } from '../../clock.ts'
import { sql } from '../../store/drizzle.ts'
import { MAIL_SUMS, type MailSums, NO_MAIL } from './metrics.ts'
import { dayBorders } from './range/points.ts'
import { type AnalyticsDeps, type AnalyticsQuery, mailRows, SEGMENT } from './read-counts.ts'

/** `date`: the first instant of the day. */
type DailyPoint = {
  date: string
  emails: number
  opens: number
  clicks: number
  bounces: number
  delivered: number
}

type Row = MailSums & { segment: number }

/** The zone of the range is UTC. */
export async function findDaily(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream }: AnalyticsQuery,
): Promise<DailyPoint[]> {
  const { zone } = range
  const borders = dayBorders(zone, range)
  const spans = { borders, zone, now: now() }
  const rows = await store.scan.all<Row>(
    sql`select ${SEGMENT} as segment, ${MAIL_SUMS}
      ${mailRows('all', { projectId, stream, spans })} group by 1`,
  )
  const sums = new Map(rows.map((row) => [row.segment, row]))
  return borders.slice(0, -1).map((at, index) => toPoint(at, sums.get(index) ?? NO_MAIL))
}

function toPoint(at: number, sums: Readonly<MailSums>): DailyPoint {
  return {
    date: formatInstant(at),
    emails: sums.sent,
    opens: sums.opened,
    clicks: sums.clicked,
    bounces: sums.hardBounced + sums.softBounced,
    delivered: sums.delivered,
  }
}
