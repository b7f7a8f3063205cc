/**
 * The effect that a received message has on one recipient, for the summary in the row and for the
 * log.
 */
import type { Base } from '../../../ground/base.ts'
import type { PendingMessage } from './lines.ts'
import type { ParsedMessage } from './parsed-message.ts'

export type Effect = {
  did: 'bounced' | 'delayed' | 'delivered' | 'complained' | 'unsubscribed' | 'received' | 'ignored'
  emailId?: string
  /** Why the message was ignored, or counted as automatic because of its sender's limit. */
  why?: string
}

export type ReceivedMessage = { row: PendingMessage; parsed: ParsedMessage }

export type ApplyDeps = Pick<
  Base,
  'config' | 'reportUsage' | 'counters' | 'now' | 'keyring' | 'log'
>

const KNOWN = 'already known'

export function ignore(why: string, emailId?: string): Effect {
  return emailId === undefined ? { did: 'ignored', why } : { did: 'ignored', why, emailId }
}

/** The effect of a report or an unsubscription that repeats an earlier one: none. */
export function ignoreKnown(emailId: string): Effect {
  return ignore(KNOWN, emailId)
}

/** Whether the message had an effect, or repeats a message that had one. */
export function hasEffect({ did, why }: Effect): boolean {
  return did !== 'ignored' || why === KNOWN
}
