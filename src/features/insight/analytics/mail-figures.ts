/**
 * The figures of all mail of a range, and of the equal range before it: in sum, by receiving
 * provider, by campaign, template or workflow, and by days or hours on the clock of a zone.
 */
import { DAY_MS, formatInstant } from '../../../base/clock.ts'
import { invalidField } from '../../../base/errors.ts'
import type {
  DeliverabilityFigures,
  LeaderboardFigures,
  OverviewFigures,
  TimeseriesFigures,
} from '../../../records/analytics.ts'
import type { DayFigures } from '../../../records/analytics-days.ts'
import { ANALYTICS_STREAMS } from '../../../records/words.ts'
import { sql } from '../../../store/drizzle.ts'
import type { AnalyticsKind, AnalyticsStream } from '../../../store/schema/words.ts'
import { quartersFrom } from './buckets.ts'
import { addMail, type MailCounts, NO_MAIL } from './mail-counts.ts'
import { MAIL_SUMS, type MetricName, metricTerm, toMetrics } from './metrics.ts'
import type { Range } from './range/range.ts'
import { dayAt, endOfHour, formatLocal, startOfZoneDay, UTC, type Zone } from './range/zone.ts'
import {
  type AnalyticsDeps,
  type AnalyticsQuery,
  bothPeriods,
  currentPeriod,
  mailRows,
  SEGMENT,
  sumSpans,
} from './read-counts.ts'

type OverviewRow = MailCounts & { segment: 0 | 1; stream: AnalyticsStream }

type ProviderRow = MailCounts & { provider: string }

export const MAX_PROVIDERS = 100

type Board = LeaderboardFigures['kind']

type LeaderboardQuery = AnalyticsQuery & { kind: Board; sort: MetricName; limit: number }

type BoardRow = MailCounts & { id: string; name: string | null }

const SUBJECTS: Record<Board, AnalyticsKind> = {
  campaigns: 'campaign',
  templates: 'template',
  workflows: 'workflow',
}

type Granularity = TimeseriesFigures['granularity']

/** The longest range whose points are hours by default. */
const HOURLY_MS = 2 * DAY_MS
export const MAX_HOURLY_DAYS = 14

type SeriesQuery = AnalyticsQuery & { granularity?: Granularity | undefined }

type Span = { fromAt: number; toAt: number }

/** The sums of a range, of the range before it, and of each kind of mail. */
export async function findOverview(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream }: AnalyticsQuery,
): Promise<OverviewFigures> {
  const spans = bothPeriods(range, now())
  const rows = await store.scan.all<OverviewRow>(
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

/** Bounces and complaints of the mail of a range, in sum and by receiving provider. */
export async function findDeliverability(
  deps: AnalyticsDeps,
  { projectId, range, stream }: AnalyticsQuery,
): Promise<DeliverabilityFigures> {
  const counts = { projectId, stream, spans: currentPeriod(range, deps.now()) }
  const [totals, providers] = await Promise.all([
    sumSpans(deps, counts),
    deps.store.scan.all<ProviderRow>(
      sql`select (select name from analytics_subjects where id = counts.subject) as provider, ${MAIL_SUMS}
        ${mailRows('provider', counts)} group by counts.subject
        order by sum(counts.sent) desc, provider limit ${sql.raw(String(MAX_PROVIDERS))}`,
    ),
  ])
  const { hardBounced, softBounced, complained } = totals.get(0) ?? NO_MAIL
  return {
    hardBounces: hardBounced,
    softBounces: softBounced,
    complaints: complained,
    providers: providers.map(toProvider),
  }
}

/** The campaigns, templates or workflows of a range with the highest value of a metric. */
export async function findLeaderboard(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream, kind, sort, limit }: LeaderboardQuery,
): Promise<LeaderboardFigures> {
  const counts = { projectId, stream, spans: currentPeriod(range, now()) }
  const rows = await store.scan.all<BoardRow>(
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

/**
 * The figures by days or hours.
 * @throws AppError VALIDATION_ERROR invalid_range for hours of a range that is too long or too old
 */
export async function findTimeseries(
  deps: AnalyticsDeps,
  { projectId, range, stream, granularity: wanted }: SeriesQuery,
): Promise<TimeseriesFigures> {
  const granularity = chooseGranularity(range, { wanted, now: deps.now() })
  const { zone, previousFromAt, fromAt, toAt } = range
  const bordersOf = granularity === 'day' ? dayBorders : hourBorders
  const before = bordersOf(zone, { fromAt: previousFromAt, toAt: fromAt })
  const borders = [...before.slice(0, -1), ...bordersOf(zone, { fromAt, toAt })]
  const spans = { borders, zone, now: deps.now() }
  const sums = await sumSpans(deps, { projectId, stream, spans })
  const points = borders.slice(0, -1).map((at, index) => ({
    ...labelOf(zone, at, granularity),
    ...toMetrics(sums.get(index) ?? NO_MAIL),
  }))
  const current = points.splice(before.length - 1)
  return { granularity, current, previous: points }
}

/**
 * The figures by UTC days, in the fields of older clients, for every UTC day that the range
 * touches.
 */
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

/**
 * Returns instants in rising order: the start of each day in the span, and last the end of the
 * span.
 */
export function dayBorders(zone: Zone, { fromAt, toAt }: Span): number[] {
  const borders = [fromAt]
  for (let day = dayAt(zone, fromAt) + 1; ; day += 1) {
    const at = startOfZoneDay(zone, day)
    if (at >= toAt) return [...borders, toAt]
    // A day that the zone's clock skipped has no length, and no point.
    if (at > (borders.at(-1) ?? at)) borders.push(at)
  }
}

/** Like `dayBorders`, for hours. An hour in which the clock changes becomes two points. */
export function hourBorders(zone: Zone, { fromAt, toAt }: Span): number[] {
  const borders = [fromAt]
  for (let at = endOfHour(zone, fromAt); at < toAt; at = endOfHour(zone, at)) borders.push(at)
  return [...borders, toAt]
}

function toProvider({
  provider,
  ...sums
}: ProviderRow): DeliverabilityFigures['providers'][number] {
  const { hardBounced: hardBounces, softBounced: softBounces } = sums
  return { provider, ...toMetrics(sums), hardBounces, softBounces }
}

function chooseGranularity(
  { zone: { offsetAt }, previousFromAt, fromAt, toAt }: Range,
  { wanted, now }: { wanted: Granularity | undefined; now: number },
): Granularity {
  if (wanted === 'day') return 'day'
  const onClock = toAt + offsetAt(toAt) - fromAt - offsetAt(fromAt)
  const length = Math.min(onClock, toAt - fromAt)
  const isKept = previousFromAt >= quartersFrom(now)
  if (wanted === undefined) return isKept && length <= HOURLY_MS ? 'hour' : 'day'
  if (length > MAX_HOURLY_DAYS * DAY_MS) {
    throw refused(`Hours are available for ranges of up to ${MAX_HOURLY_DAYS} days`)
  }
  if (isKept) return 'hour'
  const oldest = formatInstant(quartersFrom(now))
  throw refused(`The range, or the equal one before, begins before the oldest hours: ${oldest}`)
}

function refused(message: string) {
  return invalidField('granularity', 'invalid_range', message)
}

function labelOf(zone: Zone, at: number, granularity: Granularity) {
  if (granularity === 'hour') return { at: formatLocal(zone, at) }
  return { date: formatInstant(dayAt(zone, at) * DAY_MS).slice(0, 'YYYY-MM-DD'.length) }
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
