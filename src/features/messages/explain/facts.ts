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

/** The attempt or report that an email's state rests on. */
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

/** `silent`: a server runs, and did not answer. */
export type Live = ({ server: 'running' } & LiveStatus) | { server: 'none' } | { server: 'silent' }

export type Facts = {
  email: ExplainedEmail
  /** Of its recipient domain. */
  hold: Hold | null
  /** Of its recipient in its project. */
  suppression: Pick<Suppression, 'reason' | 'source' | 'createdAt'> | null
  last: LastAttempt | null
  /** The id of the first email to its domain that is being sent. */
  ahead: string | null
  live: Live
  now: number
}

export type Explanation = {
  reason: string
  /** The command line that changes it, without the program's name; null where there is none. */
  command: readonly string[] | null
  /** When it is tried next, in the past when it is due now; null when it is not tried. */
  nextAttemptAt: number | null
}
