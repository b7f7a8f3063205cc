/**
 * The counters and histograms of `/metrics` (`metric-texts.ts`). They count from the start of the process,
 * because Prometheus expects counters to begin at zero with each process.
 *
 * An observation adds to plain arrays of numbers: it runs for each request and each attempt. Bounds and sums
 * are in microseconds, so that they are integers; `/metrics` shows seconds.
 */
import { SECOND_MS } from './clock.ts'
import {
  COUNTER_TEXTS,
  type CounterName,
  type CounterText,
  HISTOGRAM_TEXTS,
  type HistogramName,
  type HistogramText,
} from './metric-texts.ts'

const US_PER_MS = 1_000

type CounterLabels = Readonly<Record<string, string>>

export type Counters = {
  /** `labels`: a value for each label of the counter. A `count` of 0 begins a line. */
  add(name: CounterName, labels?: CounterLabels, count?: number): void
  lines(name: CounterName): { labels: CounterLabels; count: number }[]
  /** `value`: the value of the histogram's label, if it has one. An unknown value is not counted. */
  observe(name: HistogramName, durationMs: number, value?: string): void
  /** One line for each value of the histogram's label, even for a value without observations. */
  histogramLines(name: HistogramName): HistogramLine[]
}

export type HistogramLine = {
  value: string
  /** The upper bounds of the buckets, in seconds. The last bucket has no bound. */
  bounds: readonly number[]
  /** How many observations are in each bucket, the last one (without a bound) included. */
  counts: readonly number[]
  sumSeconds: number
}

type CounterLine = { labels: CounterLabels; count: number }
type Lines = { labelNames: readonly string[]; byKey: Map<string, CounterLine> }

type Series = { boundsUs: readonly number[]; counts: number[]; sumUs: number }

export function createCounters(): Counters {
  const all = new Map(
    Object.entries(COUNTER_TEXTS).map(([name, { labels }]) => [name, startingLines(labels)]),
  )
  return {
    ...createHistograms(),
    add(name, labels = {}, count = 1) {
      const lines = all.get(name)
      if (lines !== undefined) addTo(lines, labels, count)
    },
    lines: (name) => [...(all.get(name)?.byKey.values() ?? [])],
  }
}

/**
 * Returns a line for every combination of the labels' values; one without labels if the counter has no
 * values.
 */
function startingLines(values: CounterText['labels']): Lines {
  const lines = { labelNames: Object.keys(values), byKey: new Map<string, CounterLine>() }
  const combinations = Object.entries(values).reduce<CounterLabels[]>(
    (rows, [label, each]) =>
      rows.flatMap((row) => each.map((value) => ({ ...row, [label]: value }))),
    [{}],
  )
  for (const labels of combinations) addTo(lines, labels, 0)
  return lines
}

function addTo({ labelNames, byKey }: Lines, labels: CounterLabels, count: number): void {
  const key = labelNames.map((label) => labels[label]).join('\n')
  const line = byKey.get(key)
  if (line === undefined) byKey.set(key, { labels, count })
  else line.count += count
}

function createHistograms(): Pick<Counters, 'observe' | 'histogramLines'> {
  const all = new Map(
    Object.entries(HISTOGRAM_TEXTS).map(([name, text]: [string, HistogramText]) => {
      const boundsUs = text.boundsMs.map((ms) => ms * US_PER_MS)
      const series = text.values.map((value) => [value, emptySeries(boundsUs)] as const)
      return [name, new Map(series)] as const
    }),
  )
  return {
    observe(name, durationMs, value = '') {
      const series = all.get(name)?.get(value)
      if (series !== undefined) add(series, Math.max(0, durationMs) * US_PER_MS)
    },
    histogramLines: (name) =>
      [...(all.get(name) ?? [])].map(([value, { boundsUs, counts, sumUs }]) => ({
        ...{ value, counts, sumSeconds: sumUs / US_PER_MS / SECOND_MS },
        bounds: boundsUs.map((us) => us / US_PER_MS / SECOND_MS),
      })),
  }
}

function emptySeries(boundsUs: readonly number[]): Series {
  return { boundsUs, counts: Array.from({ length: boundsUs.length + 1 }, () => 0), sumUs: 0 }
}

function add(series: Series, us: number): void {
  const { boundsUs, counts } = series
  let bucket = 0
  while (bucket < boundsUs.length && us > (boundsUs[bucket] ?? 0)) bucket += 1
  counts[bucket] = (counts[bucket] ?? 0) + 1
  series.sumUs += Math.round(us)
}
