/** Limits the attempts of a key that count in any stretch of time, such as an hour. */

import { type Now, SECOND_MS } from '../../../../base/clock.ts'
import { createLru } from '../../../../base/lru.ts'
import { type AttemptLimit, MAX_KEYS } from './attempt.ts'

/** `countedAt`: instants, oldest first. */
type Attempts = { countedAt: number[]; inFlight: number }

export function createWindowLimit({
  limit,
  windowMs,
  now,
}: {
  limit: number
  windowMs: number
  now: Now
}): AttemptLimit {
  const keys = createLru<Attempts>(MAX_KEYS)

  function find(key: string): Attempts {
    const attempts = keys.get(key) ?? { countedAt: [], inFlight: 0 }
    const at = now()
    // Instants in the future are those of a clock that was set back.
    const isRecent = (instant: number) => instant <= at && at - instant < windowMs
    attempts.countedAt = attempts.countedAt.filter(isRecent)
    return attempts
  }

  return {
    begin(key) {
      const attempts = find(key)
      const [oldest] = attempts.countedAt
      if (attempts.countedAt.length + attempts.inFlight >= limit) {
        const mayOpenSoon = attempts.inFlight > 0 || oldest === undefined
        return mayOpenSoon ? SECOND_MS : oldest + windowMs - now()
      }
      attempts.inFlight += 1
      keys.set(key, attempts)
      const end = (): void => {
        attempts.inFlight -= 1
        if (attempts.countedAt.length > 0 || attempts.inFlight > 0) keys.set(key, attempts)
        else keys.delete(key)
      }
      return {
        counted() {
          attempts.countedAt.push(now())
          end()
        },
        // The attempts that count may be those of others.
        cleared: end,
        abandoned: end,
      }
    },
    size: () => keys.size,
  }
}
