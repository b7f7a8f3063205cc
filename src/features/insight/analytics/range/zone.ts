/**
 * Time zones of the IANA database, as the runtime has them. Only a zone's offset at an instant is
 * read from the runtime; the days and hours of the zone's clock follow from offsets. A day may have
 * 23 or 25 hours, no midnight, or two midnights. Days are numbers that count from 1 January 1970,
 * which is day 0 in every zone.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'

export type Zone = {
  /** The name in the client's spelling. */
  name: string
  /** How far the zone's clock is ahead of UTC at an instant, in ms. */
  offsetAt(at: number): number
}

export const UTC: Zone = { name: 'UTC', offsetAt: () => 0 }

/**
 * The form of a name. It begins with a letter, because the runtime also takes offsets such as
 * +05:45, which are no zones.
 */
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/
/** Names that the runtime knows but the database does not. Most of them can mean several zones. */
const FOREIGN = new Set(
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST'.split(
    ' ',
  ),
)
const FOREIGN_PREFIX = 'SYSTEMV/'
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

/** Returns undefined for a name that is not in the database. Letter case does not count. */
export function findZone(name: string): Zone | undefined {
  if (!NAME.test(name) || isForeign(name.toUpperCase())) return undefined
  const format = createFormat(name)
  if (format === undefined) return undefined
  return { name, offsetAt: byDay((at) => parseOffset(format.format(at))) }
}

function isForeign(name: string): boolean {
  return FOREIGN.has(name) || name.startsWith(FOREIGN_PREFIX)
}

/** The day that an instant falls on, on the zone's clock. */
export function dayAt({ offsetAt }: Zone, at: number): number {
  return Math.floor((at + offsetAt(at)) / DAY_MS)
}

/**
 * The first instant of a day. A day that the zone skipped when it crossed the date line begins and
 * ends at that change.
 */
export function startOfZoneDay(zone: Zone, day: number): number {
  const midnight = day * DAY_MS
  const { offsetAt } = zone
  const offsets = [offsetAt(midnight - DAY_MS), offsetAt(midnight + DAY_MS)]
  const starts = offsets.map((offset) => midnight - offset)
  const real = starts.filter((at) => at + offsetAt(at) === midnight)
  if (real.length > 0) return Math.min(...real)
  const isReached = (at: number) => at + offsetAt(at) >= midnight
  return firstInstant(isReached, { after: midnight - DAY_MS, until: midnight + DAY_MS })
}

/**
 * The end of the hour that contains an instant: the next full hour on the clock, or an earlier
 * change of the clock.
 */
export function endOfHour({ offsetAt }: Zone, at: number): number {
  const offset = offsetAt(at)
  const next = (Math.floor((at + offset) / HOUR_MS) + 1) * HOUR_MS - offset
  if (offsetAt(next) === offset) return next
  return firstInstant((other) => offsetAt(other) !== offset, { after: at, until: next })
}

/** Formats an instant on the zone's clock with its offset, such as `2026-11-01T08:00:00+05:45`. */
export function formatLocal({ offsetAt }: Zone, at: number): string {
  const offset = offsetAt(at)
  const clock = new Date(at + offset).toISOString().slice(0, -'.000Z'.length)
  const minutes = Math.floor(Math.abs(offset) / MINUTE_MS)
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60]
  return `${clock}${offset < 0 ? '-' : '+'}${padTwo(hour)}:${padTwo(minute)}`
}

function createFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Reads offsets from the runtime only at midnights of UTC, because a formatter is slow. No zone
 * changes its clock and changes it back within a day.
 */
function byDay(offsetAt: Zone['offsetAt']): Zone['offsetAt'] {
  const known = new Map<number, number>()
  const atMidnight = (day: number) => {
    const offset = known.get(day) ?? offsetAt(day * DAY_MS)
    known.set(day, offset)
    return offset
  }
  return (at) => {
    const day = Math.floor(at / DAY_MS)
    const offset = atMidnight(day)
    return offset === atMidnight(day + 1) ? offset : offsetAt(at)
  }
}

function parseOffset(text: string): number {
  const [, sign, hours, minutes, seconds] = OFFSET.exec(text) ?? []
  const size =
    Number(hours ?? 0) * HOUR_MS +
    Number(minutes ?? 0) * MINUTE_MS +
    Number(seconds ?? 0) * SECOND_MS
  return sign === '-' ? -size : size
}

/**
 * The first millisecond at which `holds` is true. It is false at `after`, and stays true once it is
 * true.
 */
function firstInstant(
  holds: (at: number) => boolean,
  { after, until }: { after: number; until: number },
): number {
  let [before, first] = [after, until]
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2)
    if (holds(middle)) first = middle
    else before = middle
  }
  return first
}

function padTwo(number: number): string {
  return String(number).padStart(2, '0')
}
