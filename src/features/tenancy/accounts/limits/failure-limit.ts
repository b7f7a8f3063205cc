/**
 * Limits failures by key, such as the network that a login comes from. A number of failures is free; each
 * further one closes the key for twice as long as the one before. An hour after its last failure a key
 * has none. Attempts that count are failures.
 */

import { HOUR_MS, MINUTE_MS, type Now, SECOND_MS } from '../../../../base/clock.ts'
import { createLru } from '../../../../base/lru.ts'
import { type AttemptLimit, MAX_KEYS } from './attempt.ts'

type Failures = { count: number; lastAt: number; inFlight: number }

const FIRST_WAIT_MS = SECOND_MS
const MAX_WAIT_MS = 15 * MINUTE_MS
const MEMORY_MS = HOUR_MS

export function createFailureLimit(free: number, now: Now): AttemptLimit {
  const keys = createLru<Failures>(MAX_KEYS)

  function find(key: string): Failures {
    const failures = keys.get(key) ?? { count: 0, lastAt: now(), inFlight: 0 }
    // A clock that was set back must not extend the wait.
    if (failures.lastAt > now()) failures.lastAt = now()
    if (now() - failures.lastAt >= MEMORY_MS) failures.count = 0
    return failures
  }

  function waitMs({ count, lastAt, inFlight }: Failures): number {
    if (count + inFlight < free) return 0
    const closedMs = count < free ? 0 : FIRST_WAIT_MS * 2 ** (count - free)
    const restMs = Math.min(closedMs, MAX_WAIT_MS) - (now() - lastAt)
    if (count >= free && restMs > 0) return restMs
    // The attempts in flight may be the last free ones.
    return inFlight > 0 ? FIRST_WAIT_MS : 0
  }

  return {
    begin(key) {
      const failures = find(key)
      const ms = waitMs(failures)
      if (ms > 0) return ms
      failures.inFlight += 1
      keys.set(key, failures)
      const end = (count: number): void => {
        failures.inFlight -= 1
        failures.count = count
        if (count > 0 || failures.inFlight > 0) keys.set(key, failures)
        else keys.delete(key)
      }
      return {
        counted() {
          failures.lastAt = now()
          end(failures.count + 1)
        },
        cleared: () => end(0),
        abandoned: () => end(failures.count),
      }
    },
    size: () => keys.size,
  }
}
