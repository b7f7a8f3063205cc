/**
 * `/metrics` in the text format of Prometheus: counters, gauges, the traffic of each route, and the
 * figures of the process. prom-client is loaded by the first scrape.
 */
import type { Registry } from 'prom-client'
import { COUNTER_TEXTS, type CounterName, type Counters } from '../counters.ts'
import type { Gauge } from '../features/metrics.ts'
import type { Traffic } from './exchange/traffic.ts'

type Metrics = { text(): Promise<string>; contentType: string }

type MetricsDeps = { traffic: Traffic; gauges: readonly Gauge[]; counters: Counters }

export function createMetrics(deps: MetricsDeps): Metrics {
  let registry: Promise<Registry> | undefined
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: async () => {
      registry ??= buildRegistry(deps)
      return (await registry).metrics()
    },
  }
}

async function buildRegistry({ traffic, gauges, counters }: MetricsDeps) {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requestLabels = ['method', 'route', 'status'] as const
  new Counter({
    name: 'pillarbox_http_requests_total',
    help: 'Requests with a response',
    labelNames: requestLabels,
    registers,
    collect() {
      this.reset()
      for (const { count, ...line } of traffic.lines()) this.inc(labelsOf(line), count)
    },
  })
  new Counter({
    name: 'pillarbox_http_request_seconds_total',
    help: 'Total seconds from the arrival of requests until their responses were ready',
    labelNames: requestLabels,
    registers,
    collect() {
      this.reset()
      for (const { totalMs, ...line } of traffic.lines()) this.inc(labelsOf(line), totalMs / 1000)
    },
  })
  for (const name of Object.keys(COUNTER_TEXTS) as CounterName[]) {
    const { help, labelNames } = COUNTER_TEXTS[name]
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers,
      collect() {
        this.reset()
        for (const { labels, count } of counters.lines(name)) this.inc(labels, count)
      },
    })
  }
  for (const { name, help, labelNames = [], read } of gauges) {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers,
      async collect() {
        const values = await read()
        this.reset()
        for (const { value, labels = {} } of values) this.set(labels, value)
      },
    })
  }
  return registry
}

function labelsOf({ method, route, status }: { method: string; route: string; status: number }) {
  return { method, route, status: String(status) }
}
