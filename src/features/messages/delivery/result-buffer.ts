/**
 * Reports of delivery threads, gathered for a moment: a commit costs more than what is in it, so
 * the outcomes of a busy moment share one. The moment is short, and shortest while little happens:
 * until the commit, a crash would send what was just delivered once more.
 */
import type { DeliveryResult } from '../../../outbound/delivery.ts'

const GATHER_MS = 5
/** From one batch to the next while there is much. */
const BUSY_GATHER_MS = 20
const MAX_REPORTS = 250

export type ResultBuffer = {
  add(reports: readonly DeliveryResult[]): void
  /** Resolves when everything added so far, and meanwhile, is recorded. */
  settled(): Promise<void>
}

/** `clock`: milliseconds that only rise. */
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
