/** The pauses of a follower: one at a time. A promise for all of them would keep something of each. */
export type Pauses = {
  /** Ends early by `end`; with `isHurried`, by `hurry` too. */
  pause(ms: number, isHurried: boolean): Promise<void>
  end(): void
  hurry(): void
}

/**
 * Followers that linger go on at multiples of this time, so that they share a transaction. One that has
 * much to do lingers so long at least.
 */
const BEAT_MS = 50
/** Batches of so many rows are much to do. */
const MANY_ROWS = 8

/** So long a write of a follower waits for others with which it can share a commit. */
const PATIENCE_MS = 30

/** `rows`, `endedAt`: of the last batch. */
type Lingering = { lingerMs: number; at: number; rows: number; endedAt: number }

export function createPauses(): Pauses {
  let end: (() => void) | undefined
  let isHurried = false

  return {
    async pause(ms, mayHurry) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      isHurried = mayHurry
      end = () => {
        clearTimeout(timer)
        resolve()
      }
      await promise
      end = undefined
    },
    end: () => end?.(),
    hurry() {
      if (isHurried) end?.()
    },
  }
}

/** How long the next batch may wait for the transaction of another write; `rows`: of the last batch. */
export function patienceFor({ lingerMs, rows }: Pick<Lingering, 'lingerMs' | 'rows'>): number {
  return lingerMs >= BEAT_MS || (lingerMs > 0 && rows >= MANY_ROWS) ? PATIENCE_MS : 0
}

/** How long a follower lingers (ms) that finds new rows at `at`. */
export function lingerFor({ lingerMs, at, rows, endedAt }: Lingering): number {
  const isBusy = rows >= MANY_ROWS && at - endedAt < BEAT_MS
  const ms = isBusy ? Math.max(lingerMs, BEAT_MS) : lingerMs
  return ms < BEAT_MS ? ms : Math.ceil(ms - (at % BEAT_MS))
}
