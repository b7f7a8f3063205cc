/** Decides when a failed request is tried again, and words the reason of the failure. */
import type { HttpResult } from '../../../outbound/http/client.ts'
import { parseRetryAfter } from '../../../outbound/http/retry-after.ts'

type FailedAttempt = {
  /** The attempts so far, including this one. */
  attempts: number
  result: HttpResult
  /** The time of this attempt, in epoch ms. */
  at: number
}

/**
 * Returns the instant of the next attempt; null after the last one. `delays`: the wait in ms after
 * each attempt. A server that asks for a longer wait (Retry-After) gets it.
 */
export function retryAt(
  delays: readonly number[],
  { attempts, result, at }: FailedAttempt,
): number | null {
  const delayMs = delays[attempts - 1]
  if (delayMs === undefined) return null
  const asked = result.kind === 'response' ? result.headers['retry-after'] : undefined
  return at + Math.max(delayMs, parseRetryAfter(asked, at) ?? 0)
}

export function isSuccess(result: HttpResult): boolean {
  return result.kind === 'response' && result.status >= 200 && result.status < 300
}

/** Returns the reason of a failure in words. */
export function failureText(result: HttpResult): string {
  if (result.kind !== 'response') return result.error
  return `the server answered ${result.status}`
}
