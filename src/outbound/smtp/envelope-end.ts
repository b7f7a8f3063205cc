/** How an envelope ends without a message: refused by the server, or lost with the connection. */
import type { AttemptOutcome } from '../attempt.ts'
import { type AttemptContext, outcomeOfFailure, outcomeOfReply } from '../outcomes.ts'
import type { ReplyResult, Wire } from './wire.ts'
import type { WireFailure } from './wire-failure.ts'

export type EnvelopeStep = 'mail' | 'rcpt' | 'data'

/**
 * `isStale`: the server seems to have closed an idle session before it read MAIL. `needsReset`: the
 * transaction is left open. `isOutOfTurn`: the server did not read commands behind a message.
 */
export type EnvelopeEnd = {
  outcome: AttemptOutcome
  isStale: boolean
  needsReset: boolean
  isOutOfTurn?: boolean
}

type CurrentAttempt = { wire: Wire; context: AttemptContext }

/** The end after no reply to `step`, or after a reply that does not let the transaction go on. */
export function refused(
  current: CurrentAttempt,
  step: EnvelopeStep,
  { reply, failure }: ReplyResult,
): EnvelopeEnd {
  if (failure !== null) return lost(current, failure, step)
  if (reply.code < 400) {
    // The two sides no longer agree on the state of the session.
    current.wire.end()
    const error = invalidReplyError(reply, step.toUpperCase())
    const outcome = outcomeOfFailure(current.context, { error, reply: reply.stored })
    return { outcome, isStale: false, needsReset: false }
  }
  const outcome = outcomeOfReply(current.context, { stage: step, reply: reply.stored })
  // For example "421 idle for too long", sent while MAIL was on its way.
  const isStale = step === 'mail' && reply.code === 421 && outcome.verdict?.site === 'reconnect'
  return { outcome, isStale, needsReset: true }
}

export function lost(
  { context }: CurrentAttempt,
  failure: WireFailure,
  step: EnvelopeStep,
): EnvelopeEnd {
  const outcome = outcomeOfFailure(context, { error: `${failure.text} (${step})` })
  const isGone = failure.kind === 'closed' || failure.kind === 'network'
  return { outcome, isStale: step === 'mail' && isGone, needsReset: false }
}

const IS_ABOUT_ORDER = /pipelin|synchroni[sz]ation/i

/**
 * The end of an envelope that was written behind the previous message. The email goes on in another session
 * if the server did not answer MAIL, or complains of commands that came too early.
 */
export function refusedAhead(
  end: EnvelopeEnd,
  replies: readonly [ReplyResult, ...ReplyResult[]],
): EnvelopeEnd {
  const isUnread = replies[0].failure !== null
  const isTooEarly = replies.some(
    ({ reply }) => reply !== null && reply.code >= 400 && IS_ABOUT_ORDER.test(reply.stored.text),
  )
  if (!isUnread && !isTooEarly) return end
  return { ...end, isStale: true, isOutOfTurn: true }
}

/** The end after a RSET that the server did not accept: the session cannot be used again. */
export function resetRefused({ wire, context }: CurrentAttempt): EnvelopeEnd {
  wire.end()
  const outcome = outcomeOfFailure(context, { error: 'the server did not accept RSET' })
  return { outcome, isStale: true, needsReset: false }
}

/** The error of a reply with a code that the command does not allow. `to`: the command or the message. */
export function invalidReplyError({ code }: { code: number }, to: string): string {
  return `${code} is not a valid reply to ${to}`
}
