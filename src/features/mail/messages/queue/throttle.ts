/**
 * `limits.emails_per_second`: a token bucket per project that holds the tokens of one second. A rate, unlike the
 * limits of attempts in `work/limiter.ts`.
 */
import type { Now } from '../../../../base/clock.ts'

export type Throttle = {
  /** Null = no limit: `allowance` and `spend` need not be called. */
  readonly emailsPerSecond: number | null
  /** The number of emails that may start now. */
  allowance(projectId: string): number
  spend(projectId: string, count: number): void
  status(projectId: string): ThrottleStatus
}

export type ThrottleStatus = {
  /** Null = no limit. */
  emailsPerSecond: number | null
  /**
   * Whether due mail of the project has waited for the limit within the last two seconds, or within
   * the time that the limit allows for two emails if that is longer.
   */
  isShort: boolean
}

type Bucket = { tokens: number; at: number; shortAt: number }

/** The queue polls at least twice a second while mail is due. */
const SHORT_MS = 2_000

export function createThrottle(emailsPerSecond: number, now: Now): Throttle {
  if (emailsPerSecond === 0) {
    return {
      emailsPerSecond: null,
      allowance: () => Number.POSITIVE_INFINITY,
      spend: () => undefined,
      status: () => ({ emailsPerSecond: null, isShort: false }),
    }
  }
  const full = Math.max(1, emailsPerSecond)
  const longestMs = Math.max(SHORT_MS, 2_000 / emailsPerSecond)
  const buckets = new Map<string, Bucket>()
  const refill = (projectId: string) => {
    const at = now()
    const bucket = buckets.get(projectId) ?? {
      ...{ tokens: emailsPerSecond, at, shortAt: Number.NEGATIVE_INFINITY },
    }
    const earned = (Math.max(0, at - bucket.at) * emailsPerSecond) / 1000
    const next = { ...bucket, tokens: Math.min(full, bucket.tokens + earned), at }
    buckets.set(projectId, next)
    return next
  }
  return {
    emailsPerSecond,
    allowance: (projectId) => {
      const bucket = refill(projectId)
      const allowed = Math.floor(bucket.tokens)
      if (allowed < 1) bucket.shortAt = bucket.at
      return allowed
    },
    spend: (projectId, count) => {
      refill(projectId).tokens -= count
    },
    status: (projectId) => {
      const shortAt = buckets.get(projectId)?.shortAt ?? Number.NEGATIVE_INFINITY
      return { emailsPerSecond, isShort: now() - shortAt < longestMs }
    },
  }
}
