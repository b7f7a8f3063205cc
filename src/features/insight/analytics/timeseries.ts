/** The figures of mail by days or hours of a zone's clock, beside those of the equal range before. */
import { DAY_MS, formatInstant } from '../../../base/clock.ts'
import { invalidField } from '../../../base/errors.ts'
import type { TimeseriesFigures } from '../../../records/analytics.ts'
import { quartersFrom } from './buckets.ts'
import { NO_MAIL } from './mail-counts.ts'
import { toMetrics } from './metrics.ts'
import { dayBorders, hourBorders } from './range/points.ts'
import type { Range } from './range/range.ts'
import { dayAt, formatLocal, type Zone } from './range/zone.ts'
import { type AnalyticsDeps, type AnalyticsQuery, sumSpans } from './read-counts.ts'

type Granularity = TimeseriesFigures['granularity']

/** Ranges up to this long have points of an hour unless the request says otherwise. */
const HOURLY_MS = 2 * DAY_MS
export const MAX_HOURLY_DAYS = 14

type SeriesQuery = AnalyticsQuery & { granularity?: Granularity | undefined }

/** @throws AppError VALIDATION_ERROR invalid_range for hours of a range that is too long or too old */
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
