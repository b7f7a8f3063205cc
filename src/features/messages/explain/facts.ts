/** The facts that explain an email, and the explanation. */
import type { Attempt, Email, Hold } from '../../../store/schema/messages.ts'
import type { Suppression } from '../../../store/schema/suppressions.ts'
import type { LiveStatus } from './live-status.ts'

export type ExplainedEmail = Pick<
  Email,
  | 'id'
  | 'projectId'
  | 'recipient'
  | 'recipientDomain'
  | 'state'
  | 'status'
  | 'queueClass'
  | 'dueAt'
  | 'retryAt'
  | 'leaseUntil'
  | 'heldAt'
  | 'attemptCount'
  | 'error'
  | 'sentAt'
  | 'deliveredAt'
  | 'bouncedAt'
  | 'complainedAt'
  | 'updatedAt'
>

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
>

/** `silent`: a server runs but did not answer. */
export type Live = ({ server: 'running' } & LiveStatus) | { server: 'none' } | { server: 'silent' }

export type Facts = {
  email: ExplainedEmail
  /** The hold of its recipient domain. */
  hold: Hold | null
  /** The suppression of its recipient in its project. */
  suppression: Pick<Suppression, 'reason' | 'source' | 'createdAt'> | null
  last: LastAttempt | null
  /** The id of the first email to its domain that is in flight. */
  ahead: string | null
  live: Live
  now: number
}

export type Explanation = {
  reason: string
  /** The command line that changes the state, without the program's name; null if none does. */
  command: readonly string[] | null
  /** The time of the next attempt, past if it is due now; null if there is none. */
  nextAttemptAt: number | null
}
