/**
 * The histograms of `/metrics`. An observation adds to plain arrays of numbers: it runs for each request and
 * each attempt. Bounds and sums are in microseconds, so that they are integers; `/metrics` shows seconds.
 */
import { MINUTE_MS, SECOND_MS } from './clock.ts'
import { QUEUE_CLASS_NAMES } from './queue-class.ts'

const US_PER_MS = 1_000

type HistogramText = {
  help: string
  /** The one label, if any, and all of its values. */
  label: string | null
  values: readonly string[]
  boundsMs: readonly number[]
}

/** Work on this machine. */
const LOCAL_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, SECOND_MS, 5 * SECOND_MS]
/** Conversations with other machines. */
const REMOTE_MS = [10, 50, 100, 250, 500, ...[1, 2.5, 5, 10, 30, 60, 300].map(seconds)]
const STEP_MS = [1, 10, 100, SECOND_MS, 10 * SECOND_MS]
const DELIVERY_MS = [
  ...[0.1, 0.5, 1, 5, 15].map(seconds),
  ...[1, 5, 15, 60, 6 * 60, 24 * 60].map((count) => count * MINUTE_MS),
]

export const ATTEMPT_OUTCOMES = ['delivered', 'relayed', 'deferred', 'bounced', 'failed']

/** Every histogram of the program; `/metrics` shows all of them. */
export const HISTOGRAM_TEXTS = {
  pillarbox_accept_duration_seconds: {
    help: 'Time until a request to send was durable: from its arrival (api), or from the end of its message (submission)',
    label: 'source',
    values: ['api', 'submission'],
    boundsMs: LOCAL_MS,
  },
  pillarbox_delivery_duration_seconds: {
    help: 'Time from the acceptance of an email until a receiver or the smarthost took it, by class of the queue',
    label: 'class',
    values: Object.values(QUEUE_CLASS_NAMES),
    boundsMs: DELIVERY_MS,
  },
  pillarbox_attempt_duration_seconds: {
    help: 'Duration of the attempts to deliver emails, by outcome',
    label: 'outcome',
    values: ATTEMPT_OUTCOMES,
    boundsMs: REMOTE_MS,
  },
  pillarbox_attempt_step_duration_seconds: {
    help: 'Duration of the steps of attempts',
    label: 'step',
    values: 'dns connect greeting ehlo starttls auth mail rcpt data message'.split(' '),
    boundsMs: STEP_MS,
  },
  pillarbox_queue_batch_duration_seconds: {
    help: 'Duration of a write of the queue: a claim of due emails, or the outcomes of attempts',
    label: 'batch',
    values: ['claim', 'outcomes'],
    boundsMs: LOCAL_MS,
  },
  pillarbox_commit_duration_seconds: {
    help: 'Duration of a group commit, from its first write until it was durable',
    label: null,
    values: [''],
    boundsMs: LOCAL_MS,
  },
  pillarbox_write_wait_seconds: {
    help: 'How long each group commit began after one of its writes was due',
    label: null,
    values: [''],
    boundsMs: LOCAL_MS,
  },
  pillarbox_checkpoint_duration_seconds: {
    help: 'Duration of a checkpoint, which copies the write-ahead log into the database',
    label: null,
    values: [''],
    boundsMs: LOCAL_MS,
  },
  pillarbox_webhook_attempt_duration_seconds: {
    help: 'Duration of the attempts to deliver webhooks',
    label: null,
    values: [''],
    boundsMs: REMOTE_MS,
  },
} as const satisfies Record<string, HistogramText>

export type HistogramName = keyof typeof HISTOGRAM_TEXTS

export type HistogramLine = {
  value: string
  /** In seconds; the last bucket, without a bound, is not among them. */
  bounds: readonly number[]
  /** How many observations were in each bucket, and beyond the last bound. */
  counts: readonly number[]
  sumSeconds: number
}

export type Histograms = {
  /** `value`: of the histogram's label, if it has one. Others are not counted. */
  observe(name: HistogramName, durationMs: number, value?: string): void
  /** One line for each value of the label, also for those without observations. */
  histogramLines(name: HistogramName): HistogramLine[]
}

type Series = { boundsUs: readonly number[]; counts: number[]; sumUs: number }

export function createHistograms(): Histograms {
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

function seconds(count: number): number {
  return count * SECOND_MS
}
