/**
 * Whether the disk takes writes: no longer once one has failed for lack of space or a fault of the
 * file. When none has failed so for some seconds, a small write of our own tries, again and again:
 * whoever looks at our health may have sent all other writers away.
 */
import { isStorageFault } from '../database-error.ts'

const RETRY_MS = 5_000

export type Writability = {
  isWritable(): boolean
  /** To be told of every error of a write; those that the caller made do not count. */
  failed(error: unknown): void
  stop(): void
}

/** `probe` resolves when it has written something that is durable. `retryMs` is for tests. */
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
    const asked = timer
    probe().then(
      () => {
        if (timer === asked) timer = undefined
      },
      // A storage fault has been told to `failed` already; others pass, as a lock does.
      () => {
        if (timer === asked) wait()
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
