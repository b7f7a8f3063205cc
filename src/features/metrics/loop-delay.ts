/**
 * How late the event loop of the main thread runs its timers. The figures cover the last ten to twenty seconds, or
 * the time since the previous two scrapes if they are rarer, so that scrapers do not take each other's.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** In seconds. */
export type LoopDelay = { p50: number; p99: number; max: number }

type LoopHistogram = ReturnType<typeof monitorEventLoopDelay>

const RESOLUTION_MS = 10
const WINDOW_MS = 10_000
const NS_PER_MS = 1_000_000

/** The measurement begins with the first call, which has no result. */
export function createLoopDelay(clock = () => performance.now()): () => LoopDelay | undefined {
  let histogram: LoopHistogram | undefined
  let before: LoopDelay | undefined
  let beganAt = 0

  function restart(): void {
    histogram?.reset()
    beganAt = clock()
  }

  return () => {
    if (histogram === undefined) {
      histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      histogram.enable()
      restart()
    }
    const current = histogram.count === 0 ? undefined : toDelay(histogram)
    const shown = larger(current, before)
    if (clock() - beganAt >= WINDOW_MS) {
      before = current
      restart()
    }
    return shown
  }
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
