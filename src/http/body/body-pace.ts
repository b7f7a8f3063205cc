/**
 * The minimum speed of a request body: a kilobyte a second over ten seconds of waiting. A body with reserved
 * memory must also arrive at `reserved bytes / time limit of a request / 2` or faster. Time in which the server
 * itself does not read does not count.
 */
import { AppError } from '../../base/errors.ts'

type BodyPace = {
  /** Starts waiting for the sender; `onSlow` is called once if the sender is too slow. */
  watch(onSlow: (error: AppError) => void): void
  /** Notes how many bytes have arrived. */
  count(bytes: number): void
  /** Sets how much memory is reserved for the body. */
  reserve(bytes: number): void
  /** Stops waiting for the sender. */
  pause(): void
}

/** The time limit of a whole request, body included. */
export const REQUEST_TIMEOUT_MS = 120_000
const WINDOW_MS = 10_000
const MIN_BYTES = 10 * 1024

export function createBodyPace(): BodyPace {
  let bytes = 0
  let minBytes = MIN_BYTES
  let waitedMs = 0
  let since: number | undefined
  let timer: NodeJS.Timeout | undefined

  function pause(): void {
    clearTimeout(timer)
    if (since !== undefined) waitedMs += performance.now() - since
    since = undefined
  }

  function watch(onSlow: (error: AppError) => void): void {
    pause()
    if (waitedMs >= WINDOW_MS && bytes >= minBytes) {
      waitedMs = 0
      bytes = 0
    }
    since = performance.now()
    timer = setTimeout(
      () => {
        if (bytes < minBytes) {
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
    pause,
    count: (more) => {
      bytes += more
    },
    reserve: (reserved) => {
      minBytes = Math.max(MIN_BYTES, (reserved * WINDOW_MS) / (2 * REQUEST_TIMEOUT_MS))
    },
  }
}

function tooSlow(): AppError {
  return new AppError('REQUEST_TIMEOUT', 'The request body arrived too slowly.')
}
