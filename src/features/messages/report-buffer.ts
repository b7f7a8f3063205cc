/**
 * Reports of delivery threads, gathered for a moment: a commit costs more than what is in it, so
 * the outcomes of a busy moment share one. The moment is short: until the commit, a crash would send
 * what was just delivered once more.
 */
import type { DeliveryReport } from '../../outbound/outbound.ts'

const GATHER_MS = 5
const MAX_REPORTS = 250

export type ReportBuffer = {
  add(reports: readonly DeliveryReport[]): void
  /** Resolves when everything added so far, and meanwhile, is recorded. */
  settled(): Promise<void>
}

export function createReportBuffer(
  record: (reports: readonly DeliveryReport[]) => Promise<void>,
): ReportBuffer {
  let waiting: DeliveryReport[] = []
  let timer: NodeJS.Timeout | undefined
  const recordings = new Set<Promise<void>>()

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    const recording = record(waiting).finally(() => recordings.delete(recording))
    recordings.add(recording)
    waiting = []
  }

  function add(reports: readonly DeliveryReport[]): void {
    waiting.push(...reports)
    if (waiting.length >= MAX_REPORTS) flush()
    else timer ??= setTimeout(flush, GATHER_MS)
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
