/** What a message that came in leads to: for its row's summary, and for the log where it leads to nothing. */
import type { Base } from '../../base.ts'
import type { ParsedMessage } from './parsed-message.ts'
import type { PendingMessage } from './pending.ts'

export type Effect = {
  did: 'bounced' | 'delayed' | 'delivered' | 'complained' | 'unsubscribed' | 'received' | 'ignored'
  emailId?: string
  /** Why nothing came of it, or less than of other mail. */
  why?: string
}

export type ReceivedMessage = { row: PendingMessage; parsed: ParsedMessage }

export type ApplyDeps = Pick<Base, 'counters' | 'now' | 'keyring' | 'log'>

const KNOWN = 'known already'

export function ignore(why: string, emailId?: string): Effect {
  return emailId === undefined ? { did: 'ignored', why } : { did: 'ignored', why, emailId }
}

/** What it says was said before. */
export function ignoreKnown(emailId: string): Effect {
  return ignore(KNOWN, emailId)
}

/** It was about our own mail, and there is no more to it. */
export function isDealtWith({ did, why }: Effect): boolean {
  return did !== 'ignored' || why === KNOWN
}
