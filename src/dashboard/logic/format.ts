/** Instants and numbers in the form of a language and a time zone. */

export type Place = { locale: string; timeZone: string }

/** `08:58` today, `29 Nov` this year, `29 Nov 2025` before. */
export function shortTime(instant: string, now: Date, { locale, timeZone }: Place): string {
  const at = new Date(instant)
  const dayOf = (date: Date) => date.toLocaleDateString('sv', { timeZone })
  if (dayOf(at) === dayOf(now)) {
    return at.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', timeZone })
  }
  const isThisYear = dayOf(at).slice(0, 4) === dayOf(now).slice(0, 4)
  return at.toLocaleDateString(locale, {
    ...{ day: 'numeric', month: 'short', timeZone },
    ...(!isThisYear && { year: 'numeric' }),
  })
}

/** `08:58` today, `29 Nov, 08:58` on another day; with `hasSeconds`, `08:58:20`. */
export function dayTime(
  instant: string,
  now: Date,
  { locale, timeZone }: Place,
  hasSeconds = false,
): string {
  const at = new Date(instant)
  const dayOf = (date: Date) => date.toLocaleDateString('sv', { timeZone })
  const [day, today] = [dayOf(at), dayOf(now)]
  return at.toLocaleString(locale, {
    ...{ hour: '2-digit', minute: '2-digit', timeZone },
    ...(hasSeconds && { second: '2-digit' }),
    ...(day !== today && { day: 'numeric', month: 'short' }),
    ...(day.slice(0, 4) !== today.slice(0, 4) && { year: 'numeric' }),
  })
}

/** With seconds and the zone, for what is read closely. */
export function fullTime(instant: string, { locale, timeZone }: Place): string {
  return new Date(instant).toLocaleString(locale, {
    ...{ weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short', timeZone },
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
