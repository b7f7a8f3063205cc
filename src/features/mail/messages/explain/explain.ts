/**
 * Explains the state of an email in a sentence: its reason to wait, the step of its attempt, or its
 * outcome. Pure: the caller collects the facts (`explain-emails.ts`).
 *
 * For waiting mail, the sentence names the first of these reasons:
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
 * The sentence quotes replies of remote servers as they are stored, on one line and shortened; the
 * caller escapes them for its medium.
 */

import { formatSecond } from '../../../../base/clock.ts'
import { operand } from '../../../../config/shell-word.ts'
import { explainHeld, explainPaused, explainSending, explainWaiting } from './explain-waiting.ts'
import type { EmailFacts, Explanation } from './facts.ts'
import { describeReplyOrError, isInterrupted, quote } from './phrases.ts'

type Sentence = Omit<Explanation, 'nextAttemptAt'>

/** The stored errors of this version, and of earlier versions (`answer was`). */
const GIVEN_UP = /^given up[;:] (?:the last (?:attempt ended with|answer was): )?/

export function explainEmail(facts: EmailFacts): Explanation {
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

/** Explains the outcome of an email in a sentence. */
function explainEnd(facts: EmailFacts): Sentence {
  const { email } = facts
  switch (email.state) {
    case 'delivered':
    case 'relayed':
      return { reason: describeArrival(facts), command: null }
    case 'bounced':
      return explainBounce(facts)
    case 'suppressed':
      return withLastAttempt(facts, explainSuppressed(facts))
    case 'failed':
      return withLastAttempt(facts, explainFailure(facts))
    default:
      return { reason: `It was received at ${formatSecond(email.updatedAt)}.`, command: null }
  }
}

/** Mail whose last attempt was cut off before the reply, and which was not sent again, may have arrived. */
function withLastAttempt({ last }: EmailFacts, { reason, command }: Sentence): Sentence {
  if (last?.isMaybeDelivered !== true) return { reason, command }
  const cut = isInterrupted(last) ? 'was interrupted' : 'ended before the reply'
  const lead = `The attempt of ${formatSecond(last.at)} ${cut}, so the message may have arrived.`
  return { reason: `${lead} ${reason}`, command }
}

/** The reply of the receiver that accepted the email, and a later complaint. */
function describeArrival({ email, last }: EmailFacts): string {
  const said = last?.replyCode == null ? '' : `: ${describeReplyOrError(last)}`
  const host = last?.host ?? 'the receiving server'
  const complaint =
    email.complainedAt === null
      ? ''
      : ` Its recipient complained about it at ${formatSecond(email.complainedAt)}.`
  const sentAt = formatSecond(email.sentAt ?? email.updatedAt)
  if (email.state === 'relayed') {
    return `It was relayed to ${host} at ${sentAt}${said}; whether it was delivered is not known.${complaint}`
  }
  const at = formatSecond(email.deliveredAt ?? email.updatedAt)
  if (last?.result === 'relayed') {
    return `It was relayed to ${host}, which reported its delivery at ${at}.${complaint}`
  }
  return `It was delivered at ${at}: ${host} accepted it${said === '' ? '' : ` with ${said.slice(2)}`}.${complaint}`
}

function explainBounce(facts: EmailFacts): Sentence {
  const { suppression } = facts
  const refusal = describeRefusal(facts)
  if (suppression === null) return { reason: refusal, command: null }
  const since = formatSecond(suppression.createdAt)
  return {
    reason: `${refusal} The address has been on the suppression list since ${since}.`,
    command: removal(facts),
  }
}

function describeRefusal({ email, last }: EmailFacts): string {
  const at = formatSecond(email.bouncedAt ?? email.updatedAt)
  const said = last === null ? quote(email.error ?? 'no reply') : describeReplyOrError(last)
  if (last?.result.startsWith('reported-')) {
    const { finalRecipient, host } = last
    const recipient = finalRecipient === null ? '' : ` for ${finalRecipient}`
    const reporter = host === null ? '' : ` by ${host}`
    return `It bounced at ${at}, as reported${reporter}${recipient}: ${said}.`
  }
  if (last === null || last.host === null) return `It was refused at ${at}: ${said}.`
  return `It was refused by ${last.host} at ${at}: ${said}.`
}

function explainSuppressed(facts: EmailFacts): Sentence {
  const { email, suppression } = facts
  if (suppression === null) {
    const when = formatSecond(email.updatedAt)
    return {
      reason: `It was not sent: ${email.recipient} was on the suppression list at ${when}, but is no longer. To reach the address, send the email again.`,
      command: null,
    }
  }
  const { reason, source, createdAt } = suppression
  return {
    reason: `It was not sent: ${email.recipient} has been on the suppression list since ${formatSecond(createdAt)} (${reason}: ${quote(source)}). To reach the address, remove it from the list and send the email again.`,
    command: removal(facts),
  }
}

function removal({ email }: EmailFacts): string[] {
  return ['suppressions', 'remove', '--project', email.projectId, ...operand(email.recipient)]
}

function explainFailure(facts: EmailFacts): Sentence {
  const { email, obstacle } = facts
  const reason = describeFailed(facts)
  if (obstacle === null) return { reason, command: ['queue', 'retry', email.id] }
  const isSaid = obstacle === email.error
  return { reason: isSaid ? reason : `${reason} It cannot be retried: ${obstacle}.`, command: null }
}

function describeFailed({ email }: EmailFacts): string {
  const at = formatSecond(email.updatedAt)
  const error = email.error ?? 'an internal error'
  if (error === 'cancelled') return `It was cancelled at ${at}.`
  if (!GIVEN_UP.test(error)) return `It was not sent: ${quote(error)}.`
  const { attemptCount } = email
  const tries = attemptCount === 1 ? '1 attempt' : `${attemptCount} attempts`
  const last = quote(error.replace(GIVEN_UP, ''))
  return `It was given up at ${at} after ${tries}: ${last}.`
}
