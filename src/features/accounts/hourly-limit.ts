/**
 * Limits what a name, such as an IP network, may do in an hour. The times are in memory, of at most
 * 10,000 names: the one that was idle longest is forgotten first.
 */
import { LRUCache } from 'lru-cache'
import { HOUR_MS, type Now } from '../../clock.ts'
import { AppError } from '../../errors.ts'

export type HourlyLimit = {
  /** Counts one. @throws AppError RATE_LIMIT_EXCEEDED with `retryAfter`; then it does not count */
  take(name: string): void
  /** Takes the newest one back. */
  giveBack(name: string): void
}

const MAX_NAMES = 10_000

/** `publicText`: the error's text. */
export function createHourlyLimit({
  limit,
  now,
  publicText,
}: {
  limit: number
  now: Now
  publicText: string
}): HourlyLimit {
  /** The instants of the last hour, oldest first. */
  const known = new LRUCache<string, number[]>({ max: MAX_NAMES })

  function recent(name: string): number[] {
    const at = now()
    return (known.get(name) ?? []).filter((each) => each > at - HOUR_MS && each <= at)
  }

  return {
    take(name) {
      const at = now()
      const times = recent(name)
      const [oldest] = times
      if (oldest !== undefined && times.length >= limit) {
        const retryAfter = Math.max(1, Math.ceil((oldest + HOUR_MS - at) / 1000))
        throw new AppError('RATE_LIMIT_EXCEEDED', publicText, { details: { limit, retryAfter } })
      }
      known.set(name, [...times, at])
    },
    giveBack(name) {
      known.set(name, recent(name).slice(0, -1))
    },
  }
}
