/**
 * Attempts that are limited by a key, such as the network that they come from. Attempts in flight count
 * too, so that many at a time get no more tries than one after another.
 */
import { AppError } from '../../../../base/errors.ts'

export type AttemptLimit = {
  /** Begins an attempt, or returns how many milliseconds to wait before the next one is allowed. */
  begin(key: string): LimitedAttempt | number
  /** How many keys are known. */
  size(): number
}

/** End it once, in one of these ways. */
export type LimitedAttempt = {
  /** It counts against its key. */
  counted(): void
  /** It does not count, and a limit of failures forgets those of the key. */
  cleared(): void
  /** It does not count. */
  abandoned(): void
}

/** Of each limit. Beyond it the keys that were idle longest are forgotten. */
export const MAX_KEYS = 20_000

type Refusal = { publicText: string; details?: Readonly<Record<string, number>> }

/** @throws AppError RATE_LIMIT_EXCEEDED with `retryAfter` (seconds) */
export function enter(
  limit: AttemptLimit,
  key: string,
  { publicText, details }: Refusal,
): LimitedAttempt {
  const entered = limit.begin(key)
  if (typeof entered !== 'number') return entered
  const retryAfter = Math.ceil(entered / 1000)
  throw new AppError('RATE_LIMIT_EXCEEDED', publicText, { details: { ...details, retryAfter } })
}
