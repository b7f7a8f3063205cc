/** The range of the overview: as the address of the page has it, and as the API wants it. */
import { dayOf, type Place } from './format.ts'

export const RANGE_PRESETS = ['24h', '7d', '30d'] as const
export type RangePreset = (typeof RANGE_PRESETS)[number]

/** `from` and `to`: days (YYYY-MM-DD) of the user's zone, both part of the range. */
export type ShownRange = { preset: RangePreset } | { preset: 'custom'; from: string; to: string }

/** The longest range of the API, in days. */
export const MAX_SHOWN_DAYS = 90

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const DAYS: Readonly<Record<RangePreset, number>> = { '24h': 1, '7d': 7, '30d': 30 }

export type RangeFault = 'missing' | 'reversed' | 'long' | 'future'

/** What the address says; 30 days if it says nothing that holds. */
export function readShownRange(query: Readonly<Record<string, string>>, today: string): ShownRange {
  const { range, from = '', to = '' } = query
  const preset = RANGE_PRESETS.find((one) => one === range)
  if (preset !== undefined) return { preset }
  if (findRangeFault(from, to, today) === undefined) return { preset: 'custom', from, to }
  return { preset: '30d' }
}

/** The query part of an address; `''` for the usual range. */
export function writeShownRange(range: ShownRange): string {
  if (range.preset === 'custom') return `?from=${range.from}&to=${range.to}`
  return range.preset === '30d' ? '' : `?range=${range.preset}`
}

/** Why no range can be made of two days. */
export function findRangeFault(from: string, to: string, today: string): RangeFault | undefined {
  if (!isDay(from) || !isDay(to)) return 'missing'
  if (to < from) return 'reversed'
  if (from > today) return 'future'
  return daysBetween(from, to) > MAX_SHOWN_DAYS ? 'long' : undefined
}

/** The parameters of the analytics calls. They change once an hour or once a day, so that answers are found again. */
export function toRangeQuery(range: ShownRange, now: Date, { timeZone }: Pick<Place, 'timeZone'>) {
  const tz = timeZone
  if (range.preset === 'custom') return { from: range.from, to: range.to, tz }
  if (range.preset === '24h') {
    const to = Math.ceil(now.getTime() / HOUR_MS) * HOUR_MS
    return { from: new Date(to - DAY_MS).toISOString(), to: new Date(to).toISOString(), tz }
  }
  const to = dayOf(now, timeZone)
  return { from: addDays(to, 1 - DAYS[range.preset]), to, tz }
}

/** The range as the filter of the list of emails has it. */
export function toEmailRange(range: ShownRange, now: Date, zone: Pick<Place, 'timeZone'>) {
  if (range.preset === '24h') return { range: range.preset }
  return toRangeDays(range, now, zone)
}

/** The first and the last day of the range; 24 hours touch two days. */
export function toRangeDays(range: ShownRange, now: Date, { timeZone }: Pick<Place, 'timeZone'>) {
  if (range.preset === 'custom') return { from: range.from, to: range.to }
  const to = dayOf(now, timeZone)
  const back = range.preset === '24h' ? -1 : 1 - DAYS[range.preset]
  return { from: addDays(to, back), to }
}

/** The number of days from the first to the last, both counted. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
}

function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10)
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
