/**
 * Tracks whether the database accepts writes: not after a write has failed for lack of space or
 * because of a fault of the file. When no write has failed for some seconds, the store tries small
 * writes itself until one succeeds, because failing health checks may keep all clients away.
 * `retryWhileUnwritable` is for work that waits meanwhile.
 */
import { isStorageFault, isTransientDatabaseError } from '../database-error.ts'

const RETRY_MS = 5_000

type Writability = {
  isWritable(): boolean
  /** Call this with every error of a write; errors of the query itself do not count. */
  failed(error: unknown): void
  stop(): void
}

/** `probe` resolves when its own write is durable. `retryMs` is for tests. */
export function createWritability(probe: () => Promise<void>, retryMs = RETRY_MS): Writability {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function failed(error: unknown): void {
    if (isStorageFault(error)) wait()
  }

  function wait(): void {
    clearTimeout(timer)
    if (!isStopped) timer = setTimeout(retry, retryMs).unref()
  }

  function retry(): void {
    const current = timer
    probe().then(
      () => {
        if (timer === current) timer = undefined
      },
      // `failed` has handled storage faults already; other errors are transient, such as a lock.
      () => {
        if (timer === current) wait()
      },
    )
  }

  return {
    isWritable: () => timer === undefined,
    failed,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/**
 * Runs `act` until it succeeds, as long as the database cannot be written. `wait` passes the time
 * before the next try; it resolves to false to end the tries.
 * @throws any other error at once; the last error once `wait` has ended the tries
 */
export async function retryWhileUnwritable(
  act: () => Promise<unknown>,
  wait: () => Promise<boolean>,
): Promise<void> {
  for (;;) {
    try {
      await act()
      return
    } catch (error) {
      if (!isTransientDatabaseError(error) || !(await wait())) throw error
    }
  }
}
