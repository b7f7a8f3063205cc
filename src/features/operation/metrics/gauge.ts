/** The shape of a gauge of `/metrics`, and the bounded cost of gauges that take a scan. */
import { runFor, SYSTEM_OWNER } from '../../../turns/owner.ts'

const WAIT_MS = 25
/** How long the first reads wait: less than the time limit of the usual collectors. */
const FIRST_WAIT_MS = 2_000
/** After a scan, the next one waits this many times the scan's duration. */
const REST_TIMES = 50

/**
 * A figure that is read at each scrape: one value, or one for each set of labels. A read is cheap:
 * figures that take a scan come from `createRecent`. Labels follow the rule in `base/metric-texts.ts`.
 */
export type Gauge = {
  /** The name of the metric: `pillarbox_queue_emails`. */
  name: string
  help: string
  labelNames?: readonly string[]
  /** A `counter` only rises; its name ends in `_total`. */
  type?: 'gauge' | 'counter'
  read(): GaugeValue[] | Promise<GaugeValue[]>
}

export type GaugeValue = { value: number; labels?: Record<string, string> }

/** Makes one value for each state, also for a state with a count of 0. */
export function byState(counts: Readonly<Record<string, number>>): GaugeValue[] {
  return Object.entries(counts).map(([state, value]) => ({ value, labels: { state } }))
}

export type RecentOptions = {
  /** How long a read waits for a new result, if there is an older one. */
  waitMs?: number
  /** How long reads wait for the first result. The time begins with the first read. */
  firstWaitMs?: number
  /** For tests: ms. */
  clock?: () => number
}

/** Undefined if the last scan failed, or if the first scan takes longer than a read waits. */
export type Recent<Result> = () => Promise<Result | undefined>

/**
 * Reads the newest result of a scan whose cost grows with the database. The first scrape waits for
 * the first result, so that it has every figure. Later scrapes wait a moment for a new result; then
 * they take the one before, or none if that scan failed. After a scan the next one rests for a
 * multiple of the scan's time, so a large queue takes a fixed share of the scan threads' time,
 * however often the metrics are scraped.
 */
export function createRecent<Result>(
  scan: () => Promise<Result>,
  {
    waitMs = WAIT_MS,
    firstWaitMs = FIRST_WAIT_MS,
    clock = () => performance.now(),
  }: RecentOptions = {},
): Recent<Result> {
  let result: Result | undefined
  let isFirst = true
  let firstPause: Promise<void> | undefined
  let running: Promise<void> | undefined
  let nextAt = Number.NEGATIVE_INFINITY

  async function refresh(): Promise<void> {
    const from = clock()
    try {
      result = await scan()
    } catch {
      // No figure is better than an old one. Other metrics show that the database cannot be read.
      result = undefined
    }
    isFirst = false
    nextAt = clock() + REST_TIMES * (clock() - from)
    running = undefined
  }

  return async () => {
    if (running === undefined && clock() >= nextAt) running = runFor(SYSTEM_OWNER, refresh)
    if (running === undefined) return result
    if (isFirst) firstPause ??= pause(firstWaitMs)
    // Once the first pause is over, it adds no wait: the read waits as long as later reads do.
    const pauses = [isFirst ? firstPause : undefined, pause(waitMs)]
    await Promise.race([running, Promise.all(pauses)])
    return result
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
