/**
 * Limits the speed of long work, so that requests stay fast. A request waits behind at most one
 * batch; the number of rows in a batch adapts so that each holds the writer for about the same
 * time. A rest follows the batch, so that the disk keeps up: otherwise the write-ahead log would grow
 * until writers have to wait.
 */
export type BatchPace = {
  /** The number of rows for the next batch. */
  size(): number
  /**
   * Runs the transaction of a batch and measures it. Call it inside the closure of `store.write`,
   * so that the wait for the writer does not count.
   */
  measure<T>(rows: number, work: () => Promise<T>): Promise<T>
  /** As `measure`, for who knows the number of rows only afterwards. */
  record(rows: number, tookMs: number): void
}

/** Rows of the first batch, of the largest, and of the smallest; the time that a batch should take. */
export type AdaptiveSize = { first: number; max: number; min?: number; batchMs: number }

type BatchPaceOptions = AdaptiveSize & { clock?(): number }

const MAX_REST_MS = 1000

export function createBatchPace({
  first,
  max,
  min = 1,
  batchMs,
  clock = () => performance.now(),
}: BatchPaceOptions): BatchPace {
  let size = first

  function record(rows: number, tookMs: number): void {
    const fitting = Math.floor((rows * batchMs) / Math.max(tookMs, 0.01))
    // The size at most doubles, because the rows of one batch may be unlike the others.
    size = Math.max(min, Math.min(max, size * 2, fitting))
  }

  return {
    size: () => size,
    record,
    async measure(rows, work) {
      const from = clock()
      const result = await work()
      record(rows, clock() - from)
      return result
    },
  }
}

type Rest = { times: number; signal?: AbortSignal | undefined; clock?: (() => number) | undefined }

/**
 * Runs a batch, then rests `times` times as long, at most a second. The rest ends when `signal`
 * aborts.
 */
export async function withRest<T>(
  act: () => Promise<T>,
  { times, signal, clock = () => performance.now() }: Rest,
): Promise<T> {
  const from = clock()
  const result = await act()
  await rest(Math.min(MAX_REST_MS, times * (clock() - from)), signal)
  return result
}

function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
