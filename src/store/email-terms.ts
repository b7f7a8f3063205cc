/**
 * Conditions on emails that partial indexes have. They are literal, because SQLite does not match a
 * parameter with the term of an index.
 */
import { sql } from './drizzle.ts'

const UNFINISHED = ['queued', 'deferred', 'held', 'paused', 'sending']

/** Statuses of emails that did not reach their recipient, or were complained about. */
export const BAD_ENDS: readonly string[] = ['BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED']

/** The email waits or is being sent; a term of `emails_campaign_waiting`. */
export const isUnfinished = sql.raw(`state in (${quoted(UNFINISHED)})`)

/** A term of `emails_ends` and `emails_campaign_ends`. */
export const isBadEnd = sql.raw(`status in (${quoted(BAD_ENDS)})`)

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ')
}
