/**
 * Why an email is where it is, in a sentence for people: what it waits for, how far it has come, or
 * what became of it. Pure: whoever asks brings the facts (`explanations.ts`).
 *
 * Of what waits the first of these is said:
 *
 * | what holds it up                              | until                                    |
 * |-----------------------------------------------|------------------------------------------|
 * | an operator's hold of its recipient domain    | it is released                           |
 * | no server is running                          | one is started                           |
 * | the back-off or the lowered rate of its site  | its end, or an operator lifts it         |
 * | its own retry schedule                        | the next attempt; why the last one failed |
 * | the rate of its project                       | its turn                                 |
 * | a site, server or project with its hands full | there is room                            |
 * | nothing                                       | it is due now                            |
 *
 * Remote servers' words stand in the sentence as they were kept, on one line and bounded: whoever
 * shows them escapes what the medium obeys.
 */
import type { Attempt, Email, Hold } from '../../../store/schema/messages.ts'
import type { Suppression } from '../../../store/schema/suppressions.ts'
import { explainEnd } from './explain-end.ts'
import { explainHeld, explainSending, explainWaiting } from './explain-waiting.ts'
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

export function explainEmail(facts: Facts): Explanation {
  switch (facts.email.state) {
    case 'queued':
    case 'deferred':
      return explainWaiting(facts)
    case 'held':
      return { ...explainHeld(facts), nextAttemptAt: null }
    case 'sending':
      return explainSending(facts)
    default:
      return { ...explainEnd(facts), nextAttemptAt: null }
  }
}
