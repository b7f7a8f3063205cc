/**
 * The least speed of a request body: a kilobyte a second over ten seconds of waiting. A body for
 * which memory is reserved must come at least half as fast as would fill that memory within the
 * time limit of a request. Time in which the server itself does not read does not count.
 */
import { AppError } from '../../errors.ts'

type Pace = {
  /** Starts waiting for the sender; `onSlow` is called once if the sender is too slow. */
  watch(onSlow: (error: AppError) => void): void
  /** Bytes have arrived. */
  count(bytes: number): void
  /** Memory is reserved for the body. */
  hold(bytes: number): void
  /** Stops waiting for the sender. */
  rest(): void
}

/** The time limit of a whole request, body included. */
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
