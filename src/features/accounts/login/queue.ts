/**
 * The line of logins, and of new passwords, before argon2, which computes one password at a time
 * (`passwords/passwords.ts`). It is bounded: a request beyond is refused at once, which costs nearly
 * nothing, so a flood of logins slows down neither the other requests nor those that are in the line.
 */
import { AppError } from '../../../errors.ts'

export type LoginQueue = {
  /**
   * Runs `check` in a place of the line. The place is free again when `check` settles or the client is
   * gone (`signal`).
   * @throws AppError EXTERNAL_SERVICE_ERROR when there is no place
   */
  run<T>(check: () => Promise<T>, signal: AbortSignal): Promise<T>
}

const PLACES = 50
/** A full line takes about this long. */
const RETRY_AFTER_SECONDS = 2

export function createLoginQueue(): LoginQueue {
  let taken = 0
  return {
    async run(check, signal) {
      signal.throwIfAborted()
      if (taken >= PLACES) throw full()
      taken += 1
      let isTaken = true
      const leave = (): void => {
        if (isTaken) taken -= 1
        isTaken = false
      }
      signal.addEventListener('abort', leave)
      try {
        return await check()
      } finally {
        signal.removeEventListener('abort', leave)
        leave()
      }
    },
  }
}

function full(): AppError {
  return new AppError(
    'EXTERNAL_SERVICE_ERROR',
    'Too many passwords wait to be checked at the moment.',
    {
      details: { retryAfter: RETRY_AFTER_SECONDS },
      isOverload: true,
    },
  )
}
