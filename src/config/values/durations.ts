/** Reads and writes durations such as `500ms`, `1s`, `5m`, `2h` and `3d`. */
const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

type Unit = keyof typeof units

/** Milliseconds; undefined when `text` is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  if (count === undefined) return undefined
  return Number(count) * units[unit as Unit]
}

/** Uses the largest unit that gives a whole number. */
export function formatDuration(durationMs: number): string {
  const names = Object.keys(units) as Unit[]
  const unit = names.find((name) => durationMs % units[name] === 0) ?? 'ms'
  return `${durationMs / units[unit]}${unit}`
}
