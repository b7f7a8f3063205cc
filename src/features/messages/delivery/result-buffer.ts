/**
 * Gathers the results of delivery threads for some milliseconds, so that they share a commit: the
 * commit costs more than the rows. The delay is short, and shortest at low load, because a crash
 * before the commit makes the delivered emails go out again.
 */
import type { DeliveryResult } from '../../../outbound/delivery.ts'

const GATHER_MS = 5
/** The shortest time between two batches. */
const BUSY_GATHER_MS = 20
const MAX_REPORTS = 250

export type ResultBuffer = {
  add(reports: readonly DeliveryResult[]): void
  /** Resolves when all results, including those added meanwhile, are recorded. */
  settled(): Promise<void>
}

/** `clock`: a monotonic clock, in milliseconds. */
export function createResultBuffer(
  record: (reports: readonly DeliveryResult[]) => Promise<void>,
  clock: () => number = () => performance.now(),
): ResultBuffer {
  let waiting: DeliveryResult[] = []
  let timer: NodeJS.Timeout | undefined
  let flushedAt = Number.NEGATIVE_INFINITY
  const recordings = new Set<Promise<void>>()

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    flushedAt = clock()
    const recording = record(waiting).finally(() => recordings.delete(recording))
    recordings.add(recording)
    waiting = []
  }

  function gatherMs(): number {
    return Math.max(GATHER_MS, flushedAt + BUSY_GATHER_MS - clock())
  }

  function add(reports: readonly DeliveryResult[]): void {
    waiting.push(...reports)
    if (waiting.length >= MAX_REPORTS) flush()
    else timer ??= setTimeout(flush, gatherMs())
  }

  async function settled(): Promise<void> {
    for (;;) {
      flush()
      if (recordings.size === 0) return
      await Promise.all(recordings)
    }
  }

  return { add, settled }
}
