/**
 * How late the event loop of the main thread runs its timers. The figures cover the last ten to twenty seconds, or
 * the time since the previous two scrapes if they are rarer, so that scrapers do not take each other's.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

/** In seconds. */
export type LoopDelay = { p50: number; p99: number; max: number }

type LoopHistogram = ReturnType<typeof monitorEventLoopDelay>

const RESOLUTION_MS = 10
/** For the first figures, which take two times the resolution. */
const MAX_WAITS = 100
const WINDOW_MS = 10_000
const NS_PER_MS = 1_000_000

/** The measurement begins with the first call, which waits for the first figures. */
export function createLoopDelay(
  clock = () => performance.now(),
): () => Promise<LoopDelay | undefined> {
  let measuring: Promise<LoopHistogram> | undefined
  let before: LoopDelay | undefined
  let beganAt = 0

  return async () => {
    if (measuring === undefined) {
      measuring = measure()
      beganAt = clock()
    }
    const histogram = await measuring
    const current = histogram.count === 0 ? undefined : toDelay(histogram)
    const shown = larger(current, before)
    if (clock() - beganAt >= WINDOW_MS) {
      before = current
      histogram.reset()
      beganAt = clock()
    }
    return shown
  }
}

async function measure(): Promise<LoopHistogram> {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  for (let waits = 0; histogram.count === 0 && waits < MAX_WAITS; waits += 1) {
    await setTimeout(RESOLUTION_MS)
  }
  return histogram
}

/** A sample is the time between two timers, which are `RESOLUTION_MS` apart without any delay. */
function toDelay(histogram: LoopHistogram): LoopDelay {
  const seconds = (ns: number) => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS) / 1_000
  return {
    p50: seconds(histogram.percentile(50)),
    p99: seconds(histogram.percentile(99)),
    max: seconds(histogram.max),
  }
}

function larger(one: LoopDelay | undefined, other: LoopDelay | undefined): LoopDelay | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return {
    p50: Math.max(one.p50, other.p50),
    p99: Math.max(one.p99, other.p99),
    max: Math.max(one.max, other.max),
  }
}
