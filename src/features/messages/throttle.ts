/** `limits.emails_per_second`: how many emails a project may start now; a second's worth may be saved up. */
import type { Now } from '../../clock.ts'

export type Throttle = {
  /** Whole emails that may start now. */
  allowance(projectId: string): number
  spend(projectId: string, count: number): void
}

export function createThrottle(emailsPerSecond: number, now: Now): Throttle {
  if (emailsPerSecond === 0) {
    return { allowance: () => Number.POSITIVE_INFINITY, spend: () => undefined }
  }
  const buckets = new Map<string, { tokens: number; at: number }>()
  const refill = (projectId: string) => {
    const at = now()
    const bucket = buckets.get(projectId) ?? { tokens: emailsPerSecond, at }
    const earned = (Math.max(0, at - bucket.at) * emailsPerSecond) / 1000
    const full = Math.max(1, emailsPerSecond)
    const next = { tokens: Math.min(full, bucket.tokens + earned), at }
    buckets.set(projectId, next)
    return next
  }
  return {
    allowance: (projectId) => Math.floor(refill(projectId).tokens),
    spend: (projectId, count) => {
      refill(projectId).tokens -= count
    },
  }
}
