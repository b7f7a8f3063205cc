/**
 * Limits of attempts by key, such as the network that they come from, in memory. Attempts in flight count
 * too, so that many at a time get no more tries than one after another.
 *
 *   window     so many attempts that count in any stretch of time
 *   failures   a number of failures is free; each further one closes the key for twice as long as the one
 *              before. An hour after its last failure a key has none. Attempts that count are failures
 */
import { HOUR_MS, MINUTE_MS, type Now, SECOND_MS } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { createLru } from '../base/lru.ts'

export type AttemptLimit = {
  /** Begins an attempt, or returns how many milliseconds to wait before the next one is allowed. */
  begin(key: string): LimitedAttempt | number
  /** How many keys are known. */
  size(): number
}

/** An attempt that has begun. It ends once, by one of these methods. */
export type LimitedAttempt = {
  /** The attempt counts against its key. */
  counted(): void
  /** The attempt does not count, and a limit of failures forgets the failures of the key. */
  cleared(): void
  /** The attempt does not count. */
  abandoned(): void
}

export type HourlyLimit = {
  /** @throws AppError RATE_LIMIT_EXCEEDED with `limit` and `retryAfter` */
  enter(key: string): LimitedAttempt
}

type Refusal = { publicText: string; details?: Readonly<Record<string, number>> }

/** The attempts of a key. `countedAt`: the instants of those that count, oldest first. */
type Attempts = { countedAt: number[]; inFlight: number }
type Failures = { count: number; lastAt: number; inFlight: number }

/** The most keys that a limit remembers. Beyond it, the keys that were idle longest are forgotten. */
const MAX_KEYS = 20_000
/** The first wait of a limit of failures. */
const FIRST_WAIT_MS = SECOND_MS
const MAX_WAIT_MS = 15 * MINUTE_MS
const MEMORY_MS = HOUR_MS

/** @throws AppError RATE_LIMIT_EXCEEDED with `retryAfter` (seconds) */
export function enterLimit(
  limit: AttemptLimit,
  key: string,
  { publicText, details }: Refusal,
): LimitedAttempt {
  const entered = limit.begin(key)
  if (typeof entered !== 'number') return entered
  const retryAfter = Math.ceil(entered / 1000)
  throw new AppError('RATE_LIMIT_EXCEEDED', publicText, { details: { ...details, retryAfter } })
}

/** Limits what a key may do in any hour. `publicText`: the error's text. */
export function createHourlyLimit({
  limit,
  now,
  publicText,
}: {
  limit: number
  now: Now
  publicText: string
}): HourlyLimit {
  const attempts = createWindowLimit({ limit, windowMs: HOUR_MS, now })
  return { enter: (key) => enterLimit(attempts, key, { publicText, details: { limit } }) }
}

/** Limits the attempts of a key that count in any stretch of time, such as an hour. */
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
    // Instants in the future come from a clock that was set back since.
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
        // A success clears nothing: other people may have made the attempts that count.
        cleared: end,
        abandoned: end,
      }
    },
    size: () => keys.size,
  }
}

/** Limits failures: the first `free` failures of a key do not close it. */
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
    // If the attempts in flight fail, the key may be closed: another attempt waits for their outcome.
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
