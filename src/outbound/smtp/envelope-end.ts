/**
 * The failures of a session before its message: of its opening, and of an envelope that the server refuses or
 * that is lost with the connection.
 */

import { classifyLocally } from '../../formats/replies/classify-reply.ts'
import type { Reply } from '../../formats/replies/reply.ts'
import type { AttemptOutcome, StepName } from '../attempt.ts'
import {
  type AttemptContext,
  outcomeOfFailure,
  outcomeOfRefusal,
  outcomeOfReply,
} from '../outcomes.ts'
import type { Timeouts } from './timeouts.ts'
import type { ReplyResult, Wire } from './wire.ts'
import type { WireFailure } from './wire-failure.ts'

export type EnvelopeStep = 'mail' | 'rcpt' | 'data'

/**
 * `isStale`: another session has to decide. `needsReset`: the transaction is left open. `isOutOfTurn`: the
 * host shall get no envelope behind a message.
 */
export type EnvelopeEnd = {
  outcome: AttemptOutcome
  isStale: boolean
  needsReset: boolean
  isOutOfTurn?: boolean
}

type CurrentAttempt = { wire: Wire; context: AttemptContext }

type ResettableSession = { wire: Wire; timeouts: Pick<Timeouts, 'command'> }

type AheadReplies = readonly [mail: ReplyResult, rcpt: ReplyResult, data: ReplyResult]

export type Trouble =
  | { kind: 'reply'; step: Exclude<StepName, 'dns'>; reply: Reply }
  | { kind: 'failure'; error: string; isTls?: boolean; isCut?: boolean }
  | { kind: 'loop'; reply: Reply }

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
  // The server seems to have closed an idle session before it read MAIL.
  const isGone = failure.kind === 'closed' || failure.kind === 'network'
  return { outcome, isStale: step === 'mail' && isGone, needsReset: false }
}

/**
 * The end of an envelope that was written behind the previous message. If the server sent a reply too many
 * to that message, each reply here is the reply to the command before it. So a refusal counts only if MAIL
 * was accepted and the server then answers RSET as it should: after a reply too many, RSET would get the
 * reply to DATA, which is never 250. Else the email goes on in another session, which decides.
 */
export async function refusedAhead(
  current: ResettableSession,
  end: EnvelopeEnd,
  replies: AheadReplies,
): Promise<EnvelopeEnd> {
  const isOutOfTurn = isRefusedOutOfTurn(end, replies)
  const isOwn = isAccepted(replies[0]) && !isOutOfTurn && (await isReset(current))
  if (isOwn) return { ...end, needsReset: false }
  current.wire.end()
  return { ...end, isStale: true, needsReset: false, isOutOfTurn }
}

/**
 * Whether the host seems not to read commands behind a message, or replies to a message twice. 421 and the
 * limits of a session are no such sign.
 */
function isRefusedOutOfTurn({ outcome }: EnvelopeEnd, [mail, , data]: AheadReplies): boolean {
  if (mail.reply === null || isInvalidForData(data)) return true
  // A bad sequence of commands refuses no email.
  if (outcome.reply?.code === 503) return true
  return mail.reply.code >= 500 && outcome.verdict?.class !== 'session'
}

function isInvalidForData({ reply }: ReplyResult): boolean {
  return reply !== null && reply.code < 400 && reply.code !== 354
}

export function isAccepted({ reply }: ReplyResult): boolean {
  return reply !== null && reply.code < 300
}

/** Sends RSET alone. Returns whether the server accepts it and says nothing more. */
export async function isReset({ wire, timeouts }: ResettableSession): Promise<boolean> {
  const replies = wire.expect([timeouts.command])
  wire.write('RSET\r\n')
  const [{ reply }] = await replies
  return reply?.code === 250 && wire.failure() === null
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

/** Why a reply ends the opening of a session; null for a reply with which the session goes on. */
export function refusalOf(
  step: Exclude<StepName, 'dns'>,
  { reply, failure }: ReplyResult,
): Trouble | null {
  if (failure !== null) {
    return { kind: 'failure', error: failure.text, isCut: failure.kind === 'cut' }
  }
  if (reply.code < 300) return null
  if (reply.code < 400) return { kind: 'failure', error: invalidReplyError(reply, step) }
  return { kind: 'reply', step, reply: reply.stored }
}

export function outcomeOfTrouble(context: AttemptContext, trouble: Trouble): AttemptOutcome {
  switch (trouble.kind) {
    case 'reply':
      return outcomeOfReply(context, { stage: trouble.step, reply: trouble.reply })
    case 'failure':
      return outcomeOfFailure(context, trouble)
    case 'loop':
      return outcomeOfRefusal(context, {
        result: 'failed',
        verdict: classifyLocally('loop'),
        error: '5.4.6 the mail would loop: the server has the name of this server',
        reply: trouble.reply,
      })
  }
}
