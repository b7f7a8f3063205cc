/** The facts that explain an email, and the explanation. */
import type { Reason } from '../../../../records/reason.ts'
import type { EmailReasonCode } from '../../../../records/reason-codes.ts'
import { type Attempt, type Email, emails, type Hold } from '../../../../store/schema/messages.ts'
import type { Suppression } from '../../../../store/schema/suppressions.ts'
import type { Retryable } from '../queue/retryable.ts'
import type { LiveStatus } from './live-status.ts'

/** The columns of an email that an explanation needs. */
export const EXPLAINED_COLUMNS = {
  id: emails.id,
  projectId: emails.projectId,
  recipient: emails.recipient,
  recipientDomain: emails.recipientDomain,
  state: emails.state,
  status: emails.status,
  queueClass: emails.queueClass,
  dueAt: emails.dueAt,
  retryAt: emails.retryAt,
  leaseUntil: emails.leaseUntil,
  heldAt: emails.heldAt,
  attemptCount: emails.attemptCount,
  error: emails.error,
  sentAt: emails.sentAt,
  deliveredAt: emails.deliveredAt,
  bouncedAt: emails.bouncedAt,
  complainedAt: emails.complainedAt,
  updatedAt: emails.updatedAt,
}

export type ExplainedEmail = Pick<Email, keyof typeof EXPLAINED_COLUMNS>

/** The attempt or report that decided the state of an email. */
export type LastAttempt = Pick<
  Attempt,
  | 'at'
  | 'result'
  | 'class'
  | 'host'
  | 'address'
  | 'replyCode'
  | 'enhancedCode'
  | 'replyText'
  | 'error'
  | 'finalRecipient'
  | 'isMaybeDelivered'
>

/** `silent`: a server runs but did not answer. */
export type LiveFacts =
  | ({ server: 'running' } & LiveStatus)
  | { server: 'none' }
  | { server: 'silent' }

export type EmailFacts = Retryable & {
  email: ExplainedEmail
  /** The operator's hold of the email's recipient domain. */
  hold: Hold | null
  /** The suppression of the recipient's address in the email's project. */
  suppression: Pick<Suppression, 'reason' | 'source' | 'createdAt'> | null
  last: LastAttempt | null
  /** The id of the first email in flight to the same domain. */
  ahead: string | null
  live: LiveFacts
  now: number
}

/** The reason of an email, before its sentence is made. */
export type Outline = {
  said: Reason<EmailReasonCode>
  /** As in `Explanation`. */
  command: readonly string[] | null
}

/** `nextAttemptAt`: as in `Explanation`. */
export type Finding = Outline & { nextAttemptAt: number | null }

export type Explanation = Reason<EmailReasonCode> & {
  /** The sentence that `sentences.ts` makes of the code and its values. */
  reason: string
  /** The command line that changes the state, without the program's name; null if none does. */
  command: readonly string[] | null
  /** The time of the next attempt, past if it is due now; null if there is none. */
  nextAttemptAt: number | null
}
