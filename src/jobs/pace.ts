/**
 * How fast long work goes, so that requests do not feel it. They wait behind a batch: each takes as
 * many rows as hold the writer for about as long, whatever the rows are. And a batch is followed by
 * a rest twice as long as it took: the disk has to keep up, or the log of the database would grow
 * until writers have to wait for it.
 */
export type Pace = {
  /** How many rows the next batch takes. */
  size(): number
  /**
   * Runs the transaction of so many rows and measures it: within the closure of `store.write`, so
   * that the wait for its turn does not count.
   */
  measure<T>(rows: number, work: () => Promise<T>): Promise<T>
  /** `withRest`, twice as long. */
  batch<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export type PaceOptions = {
  first: number
  most: number
  /** 4 if absent. */
  targetMs?: number
  clock?(): number
}

const DEFAULT_TARGET_MS = 4
const REST_TIMES = 2
const MAX_REST_MS = 1000

export function createPace({
  first,
  most,
  targetMs = DEFAULT_TARGET_MS,
  clock = () => performance.now(),
}: PaceOptions): Pace {
  let size = first
  return {
    size: () => size,
    async measure(rows, work) {
      const from = clock()
      const result = await work()
      const tookMs = Math.max(clock() - from, 0.01)
      // At most twofold: the rows of one batch may have been unlike the others.
      size = Math.max(1, Math.min(most, size * 2, Math.floor((rows * targetMs) / tookMs)))
      return result
    },
    batch: (act, signal) => withRest(act, { times: REST_TIMES, signal, clock }),
  }
}

type Rest = { times: number; signal?: AbortSignal | undefined; clock?: (() => number) | undefined }

/**
 * Runs a batch with all that belongs to it, then rests so many times as long, a second at most; not
 * once `signal` has aborted.
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
