/** Limits what a name, such as an IP network, may do in any hour. */
import { HOUR_MS, type Now } from '../../../../base/clock.ts'
import { enter, type LimitedAttempt } from './attempt.ts'
import { createWindowLimit } from './window-limit.ts'

export type HourlyLimit = {
  /** @throws AppError RATE_LIMIT_EXCEEDED with `limit` and `retryAfter` */
  enter(name: string): LimitedAttempt
}

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
  const attempts = createWindowLimit({ limit, windowMs: HOUR_MS, now })
  return { enter: (name) => enter(attempts, name, { publicText, details: { limit } }) }
}
