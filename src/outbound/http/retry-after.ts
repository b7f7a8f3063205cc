import { DAY_MS } from '../../base/clock.ts'

/** A server may not ask for a longer wait. */
const MAX_RETRY_AFTER_MS = DAY_MS

/**
 * The wait in ms that a Retry-After header asks for: seconds or an HTTP date (RFC 9110 section 10.2.3);
 * null for any other text. At most a day.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, MAX_RETRY_AFTER_MS)
  if (!/^[A-Z][a-z]{2,8},? .*\d/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.min(Math.max(0, at - now), MAX_RETRY_AFTER_MS)
}
