/**
 * Keeps what was discovered about a provider. It is read again after an hour; if the provider does not
 * answer then, the old state serves for a day more. After a failure the provider is left alone for some
 * seconds. Callers at the same time share one request.
 */
import { DAY_MS, HOUR_MS, type Now, SECOND_MS } from '../../../../base/clock.ts'

const FRESH_MS = HOUR_MS
const USABLE_MS = DAY_MS
const RETRY_AFTER_MS = 5 * SECOND_MS

type Known<T> = { value: T; at: number }
type Failure = { error: unknown; at: number }

/** Returns a function that gives the state. @throws what `load` throws, while there is no state */
export function createDiscovery<T>(load: () => Promise<T>, now: Now): () => Promise<T> {
  let known: Known<T> | undefined
  let failure: Failure | undefined
  let pending: Promise<T> | undefined

  const isYounger = (since: { at: number } | undefined, ageMs: number): boolean =>
    since !== undefined && Math.abs(now() - since.at) < ageMs

  async function reload(): Promise<T> {
    try {
      const value = await load()
      known = { value, at: now() }
      failure = undefined
      return value
    } catch (error) {
      failure = { error, at: now() }
      return fallBack(error)
    } finally {
      pending = undefined
    }
  }

  function fallBack(error: unknown): T {
    if (known !== undefined && isYounger(known, USABLE_MS)) return known.value
    throw error
  }

  return async () => {
    if (known !== undefined && isYounger(known, FRESH_MS)) return known.value
    if (failure !== undefined && isYounger(failure, RETRY_AFTER_MS)) return fallBack(failure.error)
    pending ??= reload()
    return pending
  }
}
