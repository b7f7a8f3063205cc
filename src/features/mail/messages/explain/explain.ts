/**
 * Explains the state of an email: its reason to wait, the step of its attempt, or its outcome, as a code with values and
 * in a sentence (`sentences.ts`). Pure: the caller collects the facts (`explain-emails.ts`).
 *
 * For waiting mail, the first of these reasons is given:
 *
 * | reason                                        | until                                    |
 * |-----------------------------------------------|------------------------------------------|
 * | its database was brought back from a copy     | its project is released                  |
 * | an operator's hold of its recipient domain    | it is released                           |
 * | its project is disabled for its reputation    | it is enabled, at most 72 hours          |
 * | its campaign is paused                        | it is resumed                            |
 * | the pace of its campaign                      | its slot                                 |
 * | no server is running                          | one is started                           |
 * | the back-off or the lowered rate of its site  | its end, or an operator lifts it         |
 * | its own retry schedule                        | the next attempt (with the last failure) |
 * | the rate of its project                       | the rate allows it                       |
 * | a site, server or project at its limit        | there is capacity                        |
 * | nothing                                       | it is due now                            |
 *
 * Replies of remote servers are quoted as they are stored, on one line and shortened; the caller escapes them for its
 * medium.
 */

import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import { operand } from '../../../../config/shell-word.ts'
import { reasonOf } from '../../../../records/reason.ts'
import { explainHeld, explainPaused, explainSending, explainWaiting } from './explain-waiting.ts'
import type { EmailFacts, Explanation, Finding, Outline } from './facts.ts'
import { reasonOfFailure } from './failures.ts'
import { isInterrupted, toReply } from './last-attempt.ts'
import { shortened } from './quote.ts'
import { sentenceOf } from './sentences.ts'

export function explainEmail(facts: EmailFacts): Explanation {
  const { said, command, nextAttemptAt } = findReason(facts)
  return { reason: sentenceOf(said), ...said, command, nextAttemptAt }
}

function findReason(facts: EmailFacts): Finding {
  switch (facts.email.state) {
    case 'queued':
    case 'deferred':
      return explainWaiting(facts)
    case 'held':
      return { ...explainHeld(facts), nextAttemptAt: null }
    case 'paused':
      return { ...explainPaused(facts), nextAttemptAt: null }
    case 'sending':
      return explainSending(facts)
    default:
      return { ...explainEnd(facts), nextAttemptAt: null }
  }
}

/** Explains the outcome of an email. */
function explainEnd(facts: EmailFacts): Outline {
  const { email } = facts
  switch (email.state) {
    case 'delivered':
    case 'relayed':
      return { said: explainArrival(facts), command: null }
    case 'bounced':
      return explainBounce(facts)
    case 'suppressed':
      return explainSuppressed(facts)
    case 'failed':
      return explainFailure(facts)
    default: {
      const at = formatInstant(email.updatedAt)
      return { said: reasonOf('received', { at }), command: null }
    }
  }
}

/** An attempt that was cut off before the reply: mail that was not sent again after it may have arrived. */
function cutOffOf({ last }: EmailFacts) {
  if (last?.isMaybeDelivered !== true) return null
  return { at: formatInstant(last.at), interrupted: isInterrupted(last) }
}

/** The reply of the receiver that accepted the email, and a later complaint. */
function explainArrival({ email, last }: EmailFacts): Outline['said'] {
  const shared = {
    host: last?.host ?? null,
    complainedAt: formatOptionalInstant(email.complainedAt),
  }
  const reply = last === null || last.replyCode === null ? null : toReply(last)
  if (email.state === 'relayed') {
    const at = formatInstant(email.sentAt ?? email.updatedAt)
    return reasonOf('relayed', { at, reply, ...shared })
  }
  const at = formatInstant(email.deliveredAt ?? email.updatedAt)
  if (last?.result === 'relayed') return reasonOf('relayed_delivered', { at, ...shared })
  return reasonOf('delivered', { at, reply, ...shared })
}

function explainBounce(facts: EmailFacts): Outline {
  const { email, last, suppression } = facts
  const error = last === null ? email.error : last.error
  const shared = {
    at: formatInstant(email.bouncedAt ?? email.updatedAt),
    host: last?.host ?? null,
    class: last?.class ?? null,
    reply: last && toReply(last),
    error: error === null ? null : shortened(error),
    suppressedSince: formatOptionalInstant(suppression?.createdAt ?? null),
  }
  const said = last?.result.startsWith('reported-')
    ? reasonOf('bounce_reported', { ...shared, recipient: last.finalRecipient })
    : reasonOf('bounced', shared)
  return { said, command: suppression === null ? null : removal(facts) }
}

function explainSuppressed(facts: EmailFacts): Outline {
  const { email, suppression } = facts
  const shared = { recipient: email.recipient, cutOff: cutOffOf(facts) }
  if (suppression === null) {
    const at = formatInstant(email.updatedAt)
    return { said: reasonOf('suppression_lifted', { ...shared, at }), command: null }
  }
  const said = reasonOf('suppressed', {
    ...shared,
    since: formatInstant(suppression.createdAt),
    suppression: suppression.reason,
    source: shortened(suppression.source),
  })
  return { said, command: removal(facts) }
}

function removal({ email }: EmailFacts): string[] {
  return ['suppressions', 'remove', '--project', email.projectId, ...operand(email.recipient)]
}

function explainFailure(facts: EmailFacts): Outline {
  const { email, obstacle } = facts
  const { error, updatedAt: at, attemptCount: attempts } = email
  const said = reasonOfFailure({ error, at, attempts, obstacle, cutOff: cutOffOf(facts) })
  return { said, command: obstacle === null ? ['queue', 'retry', email.id] : null }
}
