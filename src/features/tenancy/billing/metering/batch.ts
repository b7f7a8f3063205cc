/**
 * A batch of emails that Stripe is told of in one meter event.
 *
 *   waiting     it takes more emails until it is tried first; then it is tried with the same identifier
 *               until Stripe answers
 *   settling    23 hours after the first try Stripe may no longer know the identifier, so a batch without
 *               an answer is not tried again. The summaries of the meter tell whether it was counted
 *   charged     Stripe has counted it; its emails are forgotten
 *   dropped     it is not charged; the log has the ids of its emails
 *
 * Its timestamp is the end of a minute, and a customer has one batch in a minute, so that the summary of
 * the minute tells of one batch. A customer who sends more than a thousand emails a minute for long has
 * several; they are settled together.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { nextMonthOf } from '../../../ground/usage/month.ts'

export const MAX_EMAILS = 1_000

/** Stripe keeps identifiers for at least 24 hours. */
export const RETRY_MS = 23 * HOUR_MS
/** Stripe adds events up later than it takes them. */
export const SETTLE_AFTER_MS = HOUR_MS
/** Stripe takes events of the past 35 days. */
export const MAX_AGE_MS = 35 * DAY_MS

/** How far ahead of its emails a batch may be, so that it has a minute of its own. */
const MAX_AHEAD_MS = 30 * MINUTE_MS
const LAST_SECOND_MS = MINUTE_MS - SECOND_MS

/**
 * The timestamp of a batch whose first email was sent at `at`. `newest`: that of the customer's newest
 * batch. It is in the same UTC month as the email, which decides what invoice it is on.
 */
export function timeOf(at: number, newest: number | null): number {
  const own = minuteOf(at)
  const free = newest === null ? own : Math.max(own, minuteOf(newest) + MINUTE_MS)
  const last = Math.min(own + MAX_AHEAD_MS, nextMonthOf(at) - MINUTE_MS)
  return Math.min(free, last) + LAST_SECOND_MS
}

/** Whether an open batch of this timestamp may take an email that was sent at `at`. */
export function mayTake(occurredAt: number, at: number): boolean {
  return at - occurredAt < HOUR_MS && nextMonthOf(at) === nextMonthOf(occurredAt)
}

function minuteOf(at: number): number {
  return at - (at % MINUTE_MS)
}
