/**
 * `/metrics`: counters, histograms, gauges, the traffic of each route, and the figures of the process. The
 * figures of the process come from prom-client, which is loaded by the first scrape.
 */
import type { Registry } from 'prom-client'
import type { Counters, HistogramLine } from '../../base/counters.ts'
import {
  COUNTER_TEXTS,
  type CounterName,
  HISTOGRAM_TEXTS,
  type HistogramName,
} from '../../base/metric-texts.ts'
import type { Gauge } from '../../features/operation/metrics/gauge.ts'
import type { AnswerAllowance } from '../exchange/answer-allowance.ts'
import type { Traffic } from '../exchange/traffic.ts'

type Metrics = { text(): Promise<string>; contentType: string }

type MetricsDeps = { traffic: Traffic; gauges: readonly Gauge[]; counters: Counters }

/** Figures of prom-client that break the conventions, or that other metrics show. */
const LEFT_OUT = [
  ...['nodejs_active_handles', 'nodejs_active_requests', 'nodejs_active_resources'].flatMap(
    (name) => [name, `${name}_total`],
  ),
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
]
const LOOP_LAG = /^nodejs_eventloop_lag_/

type Labels = Readonly<Record<string, string>>

/** `suffix`: after the name of the metric, such as `_sum`. */
type Sample = { suffix?: string; labels?: Labels; value: number }

type Metric = {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  samples: readonly Sample[]
}

export function createMetrics(deps: MetricsDeps): Metrics {
  let registry: Promise<Registry> | undefined
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: async () => {
      registry ??= processRegistry()
      const [ofProcess, gauges] = await Promise.all([
        registry.then((each) => each.metrics()),
        Promise.all(deps.gauges.map(readGauge)),
      ])
      const own = [...counterMetrics(deps), ...histogramMetrics(deps), trafficMetric(deps)]
      return [...own, ...gauges].map(formatMetric).join('') + ofProcess
    },
  }
}

async function processRegistry(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const names = registry.getMetricsAsArray().map(({ name }) => name)
  for (const name of names) {
    if (LEFT_OUT.includes(name) || LOOP_LAG.test(name)) registry.removeSingleMetric(name)
  }
  return registry
}

function counterMetrics({ counters }: MetricsDeps): Metric[] {
  return (Object.keys(COUNTER_TEXTS) as CounterName[]).map((name) => {
    const { help } = COUNTER_TEXTS[name]
    const samples = counters.lines(name).map(({ labels, count }) => ({ labels, value: count }))
    return { name, help, type: 'counter', samples }
  })
}

function histogramMetrics({ counters }: MetricsDeps): Metric[] {
  return (Object.keys(HISTOGRAM_TEXTS) as HistogramName[]).map((name) => {
    const { help, label } = HISTOGRAM_TEXTS[name]
    const samples = histogramSamples(label, counters.histogramLines(name))
    return { name, help, type: 'histogram', samples }
  })
}

/** A summary without quantiles: the sum and the count of each route. */
function trafficMetric({ traffic }: MetricsDeps): Metric {
  return {
    name: 'pillarbox_http_request_duration_seconds',
    help: 'Time from the arrival of requests until their responses were ready, by route',
    type: 'summary',
    samples: traffic.lines().flatMap(({ method, route, count, totalMs }) => [
      { suffix: '_sum', labels: { method, route }, value: totalMs / 1_000 },
      { suffix: '_count', labels: { method, route }, value: count },
    ]),
  }
}

/** Reads a gauge. One that cannot be read is left out, because the others matter most when something is broken. */
async function readGauge({ name, help, type = 'gauge', read }: Gauge): Promise<Metric> {
  try {
    return { name, help, type, samples: await read() }
  } catch {
    return { name, help, type, samples: [] }
  }
}

/**
 * Writes a metric in the text format of Prometheus, version 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). Ends with a line feed; empty for a metric without samples.
 */
function formatMetric({ name, help, type, samples }: Metric): string {
  if (samples.length === 0) return ''
  const lines = samples.map(
    ({ suffix = '', labels = {}, value }) => `${name}${suffix}${formatLabels(labels)} ${value}\n`,
  )
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** The samples of a histogram; `label` is its label, if it has one. Buckets are cumulative. */
function histogramSamples(label: string | null, lines: readonly HistogramLine[]): Sample[] {
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

/** The memory of answers that their clients have not taken yet. */
export function answerGauges(answers: Pick<AnswerAllowance, 'load'>): Gauge[] {
  return [
    {
      name: 'pillarbox_http_answers_bytes',
      help: 'Memory of the large answers that are made or sent',
      read: () => [{ value: answers.load().bytes }],
    },
    {
      name: 'pillarbox_http_answers_waiting',
      help: 'Answers that wait for memory',
      read: () => [{ value: answers.load().waiting }],
    },
  ]
}
