/** The figures of mail by UTC days, in the words of older clients of this API family. */
import { DAY_MS, formatInstant } from '../../../base/clock.ts'
import type { DayFigures } from '../../../records/analytics-days.ts'
import { type MailCounts, NO_MAIL } from './mail-counts.ts'
import { dayBorders } from './range/points.ts'
import { UTC } from './range/zone.ts'
import { type AnalyticsDeps, type AnalyticsQuery, sumSpans } from './read-counts.ts'

/** Of all days in UTC that the range touches. */
export async function findDaily(
  deps: AnalyticsDeps,
  { projectId, range, stream }: AnalyticsQuery,
): Promise<DayFigures[]> {
  const fromAt = Math.floor(range.fromAt / DAY_MS) * DAY_MS
  const toAt = Math.ceil(range.toAt / DAY_MS) * DAY_MS
  const borders = dayBorders(UTC, { fromAt, toAt })
  const spans = { borders, zone: UTC, now: deps.now() }
  const sums = await sumSpans(deps, { projectId, stream, spans })
  return borders.slice(0, -1).map((at, index) => toPoint(at, sums.get(index) ?? NO_MAIL))
}

function toPoint(at: number, sums: Readonly<MailCounts>): DayFigures {
  return {
    date: formatInstant(at),
    emails: sums.sent,
    opens: sums.opened,
    clicks: sums.clicked,
    bounces: sums.hardBounced + sums.softBounced,
    delivered: sums.delivered,
  }
}
