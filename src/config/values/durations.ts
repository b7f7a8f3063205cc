import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts'

/** Reads and writes durations such as `500ms`, `1s`, `5m`, `2h` and `3d`. */
const UNITS = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS, ms: 1 } as const

type Unit = keyof typeof UNITS

/** Returns the milliseconds of a duration; undefined when `text` is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  if (count === undefined) return undefined
  return Number(count) * UNITS[unit as Unit]
}

/** Uses the largest unit that gives a whole number. */
export function formatDuration(durationMs: number): string {
  const names = Object.keys(UNITS) as Unit[]
  const unit = names.find((name) => durationMs % UNITS[name] === 0) ?? 'ms'
  return `${durationMs / UNITS[unit]}${unit}`
}
