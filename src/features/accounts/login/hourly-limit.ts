/**
 * Limits the failures of a key in any hour. Attempts in flight count like failures. The number of keys is
 * bounded as in `failure-limit.ts`.
 */
import { LRUCache } from 'lru-cache'
import { HOUR_MS, type Now, SECOND_MS } from '../../../clock.ts'
import type { FailureLimit } from './failure-limit.ts'

/** `failedAt`: the instants of the failures, oldest first. */
type Failures = { failedAt: number[]; inFlight: number }

const MAX_KEYS = 20_000

/** A success forgets nothing: the failures may be those of others. */
export function createHourlyLimit(limit: number, now: Now): FailureLimit {
  const keys = new LRUCache<string, Failures>({ max: MAX_KEYS })

  function find(key: string): Failures {
    const failures = keys.get(key) ?? { failedAt: [], inFlight: 0 }
    // Instants in the future are those of a clock that was set back.
    const isRecent = (at: number) => at <= now() && now() - at < HOUR_MS
    failures.failedAt = failures.failedAt.filter(isRecent)
    return failures
  }

  return {
    begin(key) {
      const failures = find(key)
      const [oldest] = failures.failedAt
      if (failures.failedAt.length + failures.inFlight >= limit) {
        return failures.inFlight > 0 || oldest === undefined ? SECOND_MS : oldest + HOUR_MS - now()
      }
      failures.inFlight += 1
      keys.set(key, failures)
      const end = (): void => {
        failures.inFlight -= 1
        if (failures.failedAt.length > 0 || failures.inFlight > 0) keys.set(key, failures)
        else keys.delete(key)
      }
      return {
        failed() {
          failures.failedAt.push(now())
          end()
        },
        succeeded: end,
        abandoned: end,
      }
    },
    size: () => keys.size,
  }
}
