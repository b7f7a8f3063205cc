/**
 * Reads the range of time that a request asks for, and computes the equal range before it. `from`
 * and `to` are days on the clock of the zone, or instants. A day as `to` is part of the range. An
 * instant within a quarter of an hour widens the range to the whole quarter, and to the whole day
 * if it is older than the kept quarters. Without `to`, the range ends with today; without `from`,
 * it has 30 days.
 */
import { DAY_MS, parseInstant } from '../../../../base/clock.ts'
import { type FieldError, invalid } from '../../../../base/errors.ts'
import { DEFAULT_RANGE_DAYS, MAX_RANGE_DAYS } from '../../../../records/limits.ts'
import type { AnalyticsStream } from '../../../../store/schema/words.ts'
import { QUARTER_MS, quartersFrom } from '../buckets.ts'
import { dayAt, findZone, startOfZoneDay, UTC, type Zone } from './zone.ts'

export type StreamChoice = AnalyticsStream | 'ALL'

/**
 * The beginning of the oldest range. No mail is older, and before this day the clocks of some zones
 * did not keep to quarters of an hour.
 */
const FIRST_AT = Date.UTC(2000, 0, 1)

/** A range in epoch ms, at quarters of an hour. `toAt` is the first instant after the range. */
export type Range = {
  zone: Zone
  previousFromAt: number
  fromAt: number
  toAt: number
}

/** The parameters of a request, as text. */
export type RangeQuery = {
  from?: string | undefined
  to?: string | undefined
  tz?: string | undefined
}

/** The names that errors give to the two parameters. */
type RangeNames = { from: string; to: string }

/** `day`: present only if the client gave a day. */
type RangeBorder = { at: number; day?: number }
type Borders = { from: RangeBorder; to: RangeBorder }

const NAMES: RangeNames = { from: 'from', to: 'to' }

/**
 * Reads the range.
 * @throws AppError VALIDATION_ERROR invalid_timezone, invalid_date; invalid_range for a range that
 * is empty, reversed, in the future, before 2000, or longer than 90 days
 */
export function readRange(query: RangeQuery, now: number, names: RangeNames = NAMES): Range {
  const zone = query.tz === undefined ? UTC : findZone(query.tz)
  if (zone === undefined) throw invalid([...wrongDates(query, names), wrongZone()])
  const errors = wrongDates(query, names)
  if (errors.length > 0) throw invalid(errors)
  const asked = readBorders(zone, query, now)
  const problem = problemOf(zone, { ...asked, now })
  if (problem !== undefined) throw invalid([problemField(problem, query, names)])
  const { from, to } = widenOld(zone, asked, now)
  return {
    zone,
    previousFromAt: toQuarter(previousStart(zone, from, to), 'down'),
    fromAt: toQuarter(from.at, 'down'),
    toAt: toQuarter(to.at, to.day === undefined ? 'up' : 'down'),
  }
}

function wrongDates(query: RangeQuery, names: RangeNames): FieldError[] {
  return (['from', 'to'] as const).flatMap((name) => {
    const text = query[name]
    if (text === undefined || parseInstant(text) !== undefined) return []
    const message = 'Expected a date (YYYY-MM-DD), or an instant in ISO 8601 or RFC 1123'
    return [{ field: names[name], message, code: 'invalid_date' }]
  })
}

function wrongZone(): FieldError {
  const message = 'Expected a time zone of the IANA database, such as Europe/Paris'
  return { field: 'tz', message, code: 'invalid_timezone' }
}

function readBorders(zone: Zone, query: RangeQuery, now: number): Borders {
  const to = readEnd(zone, query.to) ?? endOf(zone, dayAt(zone, now))
  return { from: readStart(zone, query.from) ?? defaultStart(zone, to), to }
}

function readStart(zone: Zone, text: string | undefined): RangeBorder | undefined {
  const given = text === undefined ? undefined : parseInstant(text)
  if (given === undefined) return undefined
  if (!given.isDay) return { at: given.at }
  return borderOf(zone, given.at / DAY_MS)
}

function readEnd(zone: Zone, text: string | undefined): RangeBorder | undefined {
  const given = text === undefined ? undefined : parseInstant(text)
  if (given === undefined) return undefined
  return given.isDay ? endOf(zone, given.at / DAY_MS) : { at: given.at }
}

function borderOf(zone: Zone, day: number): RangeBorder {
  return { at: startOfZoneDay(zone, day), day }
}

/** The end of a day is the start of the next one. */
function endOf(zone: Zone, day: number): RangeBorder {
  return borderOf(zone, day + 1)
}

function defaultStart(zone: Zone, { at, day }: RangeBorder): RangeBorder {
  if (day === undefined) return { at: at - DEFAULT_RANGE_DAYS * DAY_MS }
  return borderOf(zone, day - DEFAULT_RANGE_DAYS)
}

type RangeProblem = { name: keyof RangeNames; message: string }

function problemOf(
  { offsetAt }: Zone,
  { from, to, now }: Borders & { now: number },
): RangeProblem | undefined {
  if (from.at > now) return { name: 'from', message: 'The range lies in the future' }
  if (to.at <= from.at) return { name: 'to', message: 'The range ends before it begins' }
  if (to.at <= FIRST_AT) return { name: 'to', message: 'The range ends before the year 2000' }
  const length = to.at - from.at
  // A range of whole days may be an hour longer in autumn and an hour shorter in spring, so its
  // length on the clock counts, too.
  const onClock = length + offsetAt(to.at) - offsetAt(from.at)
  if (Math.min(length, onClock) <= MAX_RANGE_DAYS * DAY_MS) return undefined
  return { name: 'from', message: `The range has more than ${MAX_RANGE_DAYS} days` }
}

/**
 * The error names the parameter with the problem or, if the client gave only the other one, that
 * one.
 */
function problemField(
  { name, message }: RangeProblem,
  query: RangeQuery,
  names: RangeNames,
): FieldError {
  const other = name === 'from' ? 'to' : 'from'
  const meant = query[name] === undefined && query[other] !== undefined ? other : name
  return { field: names[meant], message, code: 'invalid_range' }
}

/** Widens instants that are older than the kept quarters to whole days. */
function widenOld(zone: Zone, { from, to }: Borders, now: number): Borders {
  const isOld = ({ at, day }: RangeBorder) => day === undefined && at < quartersFrom(now)
  return {
    from: isOld(from) ? borderOf(zone, dayAt(zone, from.at)) : from,
    to: isOld(to) ? endOf(zone, dayAt(zone, to.at - 1)) : to,
  }
}

/** The start of the range before. A range of whole days is compared with as many whole days. */
function previousStart(zone: Zone, from: RangeBorder, to: RangeBorder): number {
  if (from.day === undefined || to.day === undefined) return 2 * from.at - to.at
  return startOfZoneDay(zone, 2 * from.day - to.day)
}

function toQuarter(at: number, way: 'up' | 'down'): number {
  const quarters = at / QUARTER_MS
  return (way === 'up' ? Math.ceil(quarters) : Math.floor(quarters)) * QUARTER_MS
}
