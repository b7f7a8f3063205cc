/** When a request that failed is tried again. */
import type { HttpResult } from '../../../outbound/http/client.ts'
import { parseRetryAfter } from '../../../outbound/http/retry-after.ts'

type FailedAttempt = {
  /** Attempts so far, with this one. */
  attempts: number
  result: HttpResult
  /** Epoch ms. */
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

/** The reason of a failure, for people. */
export function failureText(result: HttpResult): string {
  if (result.kind !== 'response') return result.error
  return `the server answered ${result.status}`
}
