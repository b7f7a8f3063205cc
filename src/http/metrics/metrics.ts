/**
 * `/metrics`: counters, histograms, gauges, the traffic of each route, and the figures of the process. The
 * figures of the process come from prom-client, which is loaded by the first scrape.
 */
import type { Registry } from 'prom-client'
import { COUNTER_TEXTS, type CounterName, type Counters } from '../../base/counters.ts'
import { HISTOGRAM_TEXTS, type HistogramName } from '../../base/histograms.ts'
import type { Gauge } from '../../features/operation/metrics/gauge.ts'
import type { Traffic } from '../exchange/traffic.ts'
import { formatMetric, histogramSamples, type Metric } from './exposition.ts'

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

/** A figure that cannot be read is left out: the others matter most when something is broken. */
async function readGauge({ name, help, type = 'gauge', read }: Gauge): Promise<Metric> {
  try {
    return { name, help, type, samples: await read() }
  } catch {
    return { name, help, type, samples: [] }
  }
}
