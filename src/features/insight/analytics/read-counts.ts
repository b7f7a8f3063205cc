/**
 * Reads the rows of counts that cover spans of time: one query for all spans, along the primary
 * key. Scan threads sum the rows, so that many rows do not load the main thread.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { eachOf, jsonItem, orderedJoin } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { AnalyticsKind } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { QUARTER_MS, quartersFrom } from './buckets.ts'
import type { MailCounts } from './mail-counts.ts'
import { MAIL_SUMS } from './metrics.ts'
import type { Range, StreamChoice } from './range/range.ts'
import { dayAt, type Zone } from './range/zone.ts'

export type AnalyticsDeps = Pick<Base, 'store' | 'now'>

/** The parameters of every analytics query. */
export type AnalyticsQuery = { projectId: string; range: Range; stream: StreamChoice }

/**
 * The spans of time to read. `borders`: the start of each span and the end of the last one, on the
 * clock of `zone`.
 */
type Spans = { borders: readonly number[]; zone: Zone; now: number }

type BucketCounts = { projectId: string; stream: StreamChoice; spans: Spans }

/** The column with the number of the span that a row belongs to, from 0. */
export const SEGMENT = sql.raw('pieces.segment')

/** A run of buckets of one length, which start in [from, to). `segment`: the number of the span. */
type Piece = readonly [segment: number, span: number, from: number, to: number]

/** Returns two spans: 0 is the previous period, 1 the current one. */
export function bothPeriods({ previousFromAt, fromAt, toAt, zone }: Range, now: number): Spans {
  return { borders: [previousFromAt, fromAt, toAt], zone, now }
}

export function currentPeriod({ fromAt, toAt, zone }: Range, now: number): Spans {
  return { borders: [fromAt, toAt], zone, now }
}

/** Returns `from …` with the rows of `mail_counts`; the caller adds a `join` or `group by`. */
export function mailRows(kind: AnalyticsKind, { projectId, stream, spans }: BucketCounts): SQL {
  const own = sql`counts.project_id = ${projectId} and counts.kind = ${kind}`
  return rowsOf('mail_counts', { own, stream, spans })
}

/** Returns the counts of all mail by the number of the span; spans without mail are absent. */
export async function sumSpans(
  { store }: Pick<AnalyticsDeps, 'store'>,
  counts: BucketCounts,
): Promise<ReadonlyMap<number, MailCounts>> {
  const rows = await store.scan.all<MailCounts & { segment: number }>(
    sql`select ${SEGMENT} as segment, ${MAIL_SUMS} ${mailRows('all', counts)} group by 1`,
  )
  return new Map(rows.map(({ segment, ...sums }) => [segment, sums]))
}

/** Like `mailRows`, for the tables whose subjects have no kind. */
export function subjectRows(
  table: 'link_counts' | 'event_counts',
  { projectId, stream, spans }: BucketCounts,
): SQL {
  return rowsOf(table, { own: sql`counts.project_id = ${projectId}`, stream, spans })
}

function rowsOf(
  table: string,
  { own, stream, spans }: { own: SQL; stream: StreamChoice; spans: Spans },
): SQL {
  const { borders, zone, now } = spans
  const [segment, span, from, to] = [0, 1, 2, 3].map((index) => jsonItem(sql`value`, index))
  const filter = stream === 'ALL' ? sql`` : sql` and counts.stream = ${stream}`
  return sql`from (select ${segment} as segment, ${span} as span, ${from} as "from", ${to} as "to"
      from ${eachOf(coverSpans(borders, { zone, now }))}) as pieces
    ${orderedJoin()} ${sql.raw(table)} as counts
      on ${own} and counts.span = pieces.span
        and counts.starts_at >= pieces."from" and counts.starts_at < pieces."to"${filter}`
}

/**
 * Turns spans of time into runs of buckets: whole UTC days are read as days, the rest as quarters
 * of an hour. Before the oldest kept quarter, the borders of a span move to UTC midnights, so that
 * a day on the zone's clock becomes the UTC day of the same date. So no bucket is in two spans.
 *
 * `borders`: the borders of consecutive spans in rising order, one more than there are spans. An
 * empty span has no run.
 */
function coverSpans(
  borders: readonly number[],
  { zone, now }: { zone: Zone; now: number },
): Piece[] {
  const moved = moveBorders(borders, zone, quartersFrom(now))
  return moved.slice(1).flatMap((to, segment) => coverSpan(segment, moved[segment] ?? to, to))
}

function moveBorders(borders: readonly number[], zone: Zone, limit: number): number[] {
  return borders.map((at, index) => {
    if (at >= limit) return at
    const isEnd = index === borders.length - 1
    return (isEnd ? dayAt(zone, at - 1) + 1 : dayAt(zone, at)) * DAY_MS
  })
}

function coverSpan(segment: number, from: number, to: number): Piece[] {
  const firstDay = Math.ceil(from / DAY_MS) * DAY_MS
  const lastDay = Math.floor(to / DAY_MS) * DAY_MS
  const pieces: Piece[] =
    firstDay >= lastDay
      ? [[segment, QUARTER_MS, from, to]]
      : [
          [segment, QUARTER_MS, from, firstDay],
          [segment, DAY_MS, firstDay, lastDay],
          [segment, QUARTER_MS, lastDay, to],
        ]
  return pieces.filter(([, , start, end]) => start < end)
}
