/** Instants and numbers in the form of a language and a time zone. */

export type Place = { locale: string; timeZone: string }

/** To make a format costs far more than to use it, and a list shows hundreds of times. */
const formats = new Map<string, Intl.DateTimeFormat>()

const CLOCK = { hour: '2-digit', minute: '2-digit' } as const
const DAY = { day: 'numeric', month: 'short' } as const
const YEAR = { year: 'numeric' } as const

function format(at: Date, locale: string, options: Intl.DateTimeFormatOptions): string {
  const key = `${locale} ${JSON.stringify(options)}`
  const known = formats.get(key) ?? new Intl.DateTimeFormat(locale, options)
  formats.set(key, known)
  return known.format(at)
}

/** The day in the zone, as ISO 8601. */
function dayOf(at: Date, timeZone: string): string {
  return format(at, 'sv', { ...YEAR, month: '2-digit', day: '2-digit', timeZone })
}

/** `08:58` today, `29 Nov` this year, `29 Nov 2025` before. */
export function shortTime(instant: string, now: Date, { locale, timeZone }: Place): string {
  const at = new Date(instant)
  const [day, today] = [dayOf(at, timeZone), dayOf(now, timeZone)]
  if (day === today) return format(at, locale, { ...CLOCK, timeZone })
  const isThisYear = day.slice(0, 4) === today.slice(0, 4)
  return format(at, locale, { ...DAY, ...(!isThisYear && YEAR), timeZone })
}

/** `08:58` today, `29 Nov, 08:58` on another day; with `hasSeconds`, `08:58:20`. */
export function dayTime(
  instant: string,
  now: Date,
  { locale, timeZone }: Place,
  hasSeconds = false,
): string {
  const at = new Date(instant)
  const [day, today] = [dayOf(at, timeZone), dayOf(now, timeZone)]
  return format(at, locale, {
    ...{ ...CLOCK, timeZone },
    ...(hasSeconds && { second: '2-digit' }),
    ...(day !== today && DAY),
    ...(day.slice(0, 4) !== today.slice(0, 4) && YEAR),
  })
}

/** With seconds and the zone, for what is read closely. */
export function fullTime(instant: string, { locale, timeZone }: Place): string {
  return format(new Date(instant), locale, {
    ...{ ...CLOCK, ...YEAR, weekday: 'short', day: 'numeric', month: 'long' },
    ...{ second: '2-digit', timeZoneName: 'short', timeZone },
  })
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
  const style = (value: number, unit: string, digits = 0) =>
    new Intl.NumberFormat(locale, {
      ...{ style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits },
    }).format(value)
  if (ms < 1_000) return style(ms, 'millisecond')
  return ms < 120_000 ? style(ms / 1_000, 'second', 1) : style(ms / 60_000, 'minute')
}

export function bytes(size: number, locale: string): string {
  const [value, unit] =
    size < 1_000_000 ? [size / 1_000, 'kilobyte'] : [size / 1_000_000, 'megabyte']
  return new Intl.NumberFormat(locale, {
    ...{ style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 },
  }).format(value as number)
}
