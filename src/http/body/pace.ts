/**
 * How slowly a body may come: less than a kilobyte a second, over ten seconds in which it was
 * waited for, and its sender is given up; where memory is held for it, less than half of what would
 * fill that in the time a request has. Time in which we ourselves do not read does not count.
 */
import { AppError } from '../../errors.ts'

export type Pace = {
  /** From now on we wait for the sender, `onSlow` is called once if it is too slow. */
  watch(onSlow: (error: AppError) => void): void
  /** So many bytes have come. */
  count(bytes: number): void
  /** So many bytes are held for what comes. */
  hold(bytes: number): void
  /** We do not wait for the sender now. */
  rest(): void
}

/** A whole request, body and all, arrives within that. */
export const REQUEST_TIMEOUT_MS = 120_000
const WINDOW_MS = 10_000
const LEAST_BYTES = 10 * 1024

export function createPace(): Pace {
  let bytes = 0
  let leastBytes = LEAST_BYTES
  let waitedMs = 0
  let since: number | undefined
  let timer: NodeJS.Timeout | undefined

  function rest(): void {
    clearTimeout(timer)
    if (since !== undefined) waitedMs += performance.now() - since
    since = undefined
  }

  function watch(onSlow: (error: AppError) => void): void {
    rest()
    if (waitedMs >= WINDOW_MS && bytes >= leastBytes) {
      waitedMs = 0
      bytes = 0
    }
    since = performance.now()
    timer = setTimeout(
      () => {
        if (bytes < leastBytes) {
          onSlow(tooSlow())
          return
        }
        waitedMs = 0
        bytes = 0
        since = undefined
        watch(onSlow)
      },
      Math.max(0, WINDOW_MS - waitedMs),
    )
  }

  return {
    watch,
    rest,
    count: (more) => {
      bytes += more
    },
    hold: (held) => {
      leastBytes = Math.max(LEAST_BYTES, (held * WINDOW_MS) / (2 * REQUEST_TIMEOUT_MS))
    },
  }
}

function tooSlow(): AppError {
  return new AppError('REQUEST_TIMEOUT', 'The request body came too slowly.')
}
