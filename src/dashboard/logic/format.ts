/** Instants and numbers in the form of a language and a time zone. */

export type Place = { locale: string; timeZone: string }

const CLOCK = { hour: '2-digit', minute: '2-digit' } as const
const DAY = { day: 'numeric', month: 'short' } as const
const LONG_DAY = { day: 'numeric', month: 'long' } as const
const SECONDS = { second: '2-digit' } as const
const YEAR = { year: 'numeric' } as const
const ISO_DAY = { ...YEAR, month: '2-digit', day: '2-digit' } as const

/** Each form that an instant takes, by name, so that a form is made once for a language and a zone. */
const FORMS = {
  isoDay: ISO_DAY,
  isoSecond: { ...ISO_DAY, ...CLOCK, ...SECONDS },
  clock: CLOCK,
  clockSeconds: { ...CLOCK, ...SECONDS },
  day: DAY,
  dayYear: { ...DAY, ...YEAR },
  longDay: LONG_DAY,
  weekday: { weekday: 'short', ...LONG_DAY },
  dayClock: { ...DAY, ...CLOCK },
  dayYearClock: { ...DAY, ...YEAR, ...CLOCK },
  daySeconds: { ...DAY, ...CLOCK, ...SECONDS },
  dayYearSeconds: { ...DAY, ...YEAR, ...CLOCK, ...SECONDS },
  weekdayClock: { weekday: 'short', ...DAY, ...CLOCK },
  longWeekdayClock: { weekday: 'long', ...LONG_DAY, ...CLOCK },
  full: { weekday: 'short', ...LONG_DAY, ...YEAR, ...CLOCK, ...SECONDS, timeZoneName: 'short' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>

/** To make a format costs a thousand times what its use does, and a list shows hundreds of times and numbers. */
const dates = new Map<string, Intl.DateTimeFormat>()
const numbers = new Map<string, Intl.NumberFormat>()

export function formatDate(
  form: keyof typeof FORMS,
  at: Date,
  { locale, timeZone }: Place,
): string {
  const key = `${form} ${locale} ${timeZone}`
  let format = dates.get(key)
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale, { ...FORMS[form], timeZone })
    dates.set(key, format)
  }
  return format.format(at)
}

const PLAIN: Intl.NumberFormatOptions = { maximumFractionDigits: 2 }

export function formatNumber(value: number, locale: string, options = PLAIN): string {
  const key = options === PLAIN ? locale : `${locale} ${JSON.stringify(options)}`
  let format = numbers.get(key)
  if (format === undefined) {
    format = new Intl.NumberFormat(locale, options)
    numbers.set(key, format)
  }
  return format.format(value)
}

/** With this many digits after the point, neither more nor fewer. */
export function formatDigits(value: number, locale: string, digits: number): string {
  const exactly = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return formatNumber(value, locale, exactly)
}

let ownZone: string | undefined

/** The zone of the browser. Asked for on need: the first format of a page costs as much as drawing the page. */
export function browserZone(): string {
  ownZone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone
  return ownZone
}

/** YYYY-MM-DD on the calendar of the zone: the Swedish form is that of ISO 8601. */
export function dayOf(at: Date, timeZone: string): string {
  return formatDate('isoDay', at, { locale: 'sv', timeZone })
}

/** `08:58` today, `29 Nov` this year, `29 Nov 2025` before. */
export function shortTime(instant: string, now: Date, place: Place): string {
  const at = new Date(instant)
  const [day, today] = [dayOf(at, place.timeZone), dayOf(now, place.timeZone)]
  if (day === today) return formatDate('clock', at, place)
  return formatDate(day.slice(0, 4) === today.slice(0, 4) ? 'day' : 'dayYear', at, place)
}

/** `08:58` today, `29 Nov, 08:58` on another day; with `hasSeconds`, `08:58:20`. */
export function dayTime(instant: string, now: Date, place: Place, hasSeconds = false): string {
  const at = new Date(instant)
  const [day, today] = [dayOf(at, place.timeZone), dayOf(now, place.timeZone)]
  if (day === today) return formatDate(hasSeconds ? 'clockSeconds' : 'clock', at, place)
  const from = day.slice(0, 4) === today.slice(0, 4) ? 'day' : 'dayYear'
  return formatDate(`${from}${hasSeconds ? 'Seconds' : 'Clock'}`, at, place)
}

/** With seconds and the zone, for what is read closely. */
export function fullTime(instant: string, place: Place): string {
  return formatDate('full', new Date(instant), place)
}

/** `in 31 minutes`, `2 hours ago`. */
export function relativeTime(instant: string, now: Date, locale: string): string {
  const seconds = Math.round((Date.parse(instant) - now.getTime()) / 1000)
  const steps = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ] as const
  const [unit, size] = steps.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(
    Math.trunc(seconds / size),
    unit,
  )
}

/** `241 ms`, `1.2 s`, `3 min`. */
export function duration(ms: number, locale: string): string {
  const style = (value: number, unit: string, digits = 0) => {
    return formatNumber(value, locale, unitOptions(unit, digits))
  }
  if (ms < 1_000) return style(ms, 'millisecond')
  return ms < 120_000 ? style(ms / 1_000, 'second', 1) : style(ms / 60_000, 'minute')
}

export function bytes(size: number, locale: string): string {
  const [value, unit] =
    size < 1_000_000 ? [size / 1_000, 'kilobyte'] : [size / 1_000_000, 'megabyte']
  return formatNumber(value as number, locale, unitOptions(unit as string, 1))
}

function unitOptions(unit: string, digits: number): Intl.NumberFormatOptions {
  return { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits }
}
