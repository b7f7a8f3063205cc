/**
 * Writes metrics in the text format of Prometheus, version 0.0.4:
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import type { HistogramLine } from '../../base/histograms.ts'

type Labels = Readonly<Record<string, string>>

/** `suffix`: after the name of the metric, such as `_sum`. */
type Sample = { suffix?: string; labels?: Labels; value: number }

export type Metric = {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  samples: readonly Sample[]
}

/** Ends with a line feed; empty for a metric without samples. */
export function formatMetric({ name, help, type, samples }: Metric): string {
  if (samples.length === 0) return ''
  const lines = samples.map(
    ({ suffix = '', labels = {}, value }) => `${name}${suffix}${formatLabels(labels)} ${value}\n`,
  )
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** The samples of a histogram; `label` is its label, if it has one. Buckets are cumulative. */
export function histogramSamples(label: string | null, lines: readonly HistogramLine[]): Sample[] {
  return lines.flatMap(({ value, bounds, counts, sumSeconds }) => {
    const labels: Labels = label === null ? {} : { [label]: value }
    let count = 0
    const buckets = counts.map((each, index) => {
      count += each
      const le = String(bounds[index] ?? '+Inf')
      return { suffix: '_bucket', labels: { ...labels, le }, value: count }
    })
    const ends = [
      { suffix: '_sum', labels, value: sumSeconds },
      { suffix: '_count', labels, value: count },
    ]
    return [...buckets, ...ends]
  })
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
