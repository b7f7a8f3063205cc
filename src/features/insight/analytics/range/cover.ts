/**
 * Turns spans of time into buckets of the tables: whole UTC days are read as days, the rest as quarters of
 * an hour. Further back than quarters are kept, the borders of a span move to UTC midnights: the day of a
 * zone's clock becomes the UTC day of the same date. So every bucket is in one span at most.
 */
import { DAY_MS } from '../../../../base/clock.ts'
import { QUARTER_MS, quartersFrom } from '../buckets.ts'
import { dayAt, type Zone } from './zone.ts'

/** Buckets of one length that start in [from, to). `segment`: the number of the span. */
type Piece = readonly [segment: number, span: number, from: number, to: number]

/** `borders`: of consecutive spans, rising; one more than spans. Empty spans have no piece. */
export function coverSpans(
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
