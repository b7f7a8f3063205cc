/**
 * The envelope of a message: MAIL, RCPT and DATA. It goes in one write if the server supports PIPELINING (RFC 2920),
 * else command by command. A refused envelope leaves the transaction open: RSET precedes the next MAIL. If the server
 * accepts DATA although it refused the recipient, a lone dot ends the empty message. The
 * envelope can also be lost with the connection.
 *
 * An envelope may be written behind the end of the previous message, in the same write (RFC 2920 section 3.1):
 * `openEnvelope`. What becomes of the previous message does not depend on it.
 */
import type { Now } from '../../base/clock.ts'
import type { AttemptOutcome } from '../attempt.ts'
import {
  type AttemptContext,
  invalidReplyError,
  outcomeOfFailure,
  outcomeOfReply,
  type StepLog,
} from '../outcomes.ts'
import {
  type MessageNeeds,
  mailCommand,
  type PreparedData,
  rcptCommand,
  type SmtpCapabilities,
  type SmtpEnvelope,
  type SmtpTimeouts,
} from './commands.ts'
import type { WireFailure } from './reply-parser.ts'
import type { ReplyResult, SmtpWire } from './wire.ts'

export type PreparedMessage = { envelope: SmtpEnvelope; data: PreparedData; needs: MessageNeeds }

/** An envelope whose commands are on the wire: MAIL, RCPT and DATA. */
export type OpenedEnvelope = {
  replies: Promise<readonly [ReplyResult, ReplyResult, ReplyResult]>
  /** How many replies have arrived. */
  count: number
  /** The log of the attempt, once the attempt has begun. */
  log: StepLog | null
}

/** The state of one transaction. */
export type MailTransaction = PreparedMessage & {
  wire: SmtpWire
  timeouts: SmtpTimeouts
  capabilities: SmtpCapabilities
  now: Now
  context: AttemptContext
  /** The previous transaction was left open. */
  needsReset: boolean
  /** The envelope, if it is written already; else null. */
  opened: OpenedEnvelope | null
}

type EnvelopeReplies = Record<EnvelopeStep, ReplyResult>

const ENVELOPE_STEPS: readonly EnvelopeStep[] = ['mail', 'rcpt', 'data']

/**
 * The limit of MAIL behind a message. A server that reads no command there must not use up the
 * whole limit of MAIL; the message then goes on in another session.
 */
const MAX_AHEAD_MS = 20_000

type EnvelopeStep = 'mail' | 'rcpt' | 'data'

/**
 * `isStale`: another session has to decide. `needsReset`: the transaction is left open. `isOutOfTurn`: the
 * host shall get no envelope behind a message.
 */
type EnvelopeEnd = {
  outcome: AttemptOutcome
  isStale: boolean
  needsReset: boolean
  isOutOfTurn?: boolean
}

type CurrentAttempt = { wire: SmtpWire; context: AttemptContext }

type ResettableSession = { wire: SmtpWire; timeouts: Pick<SmtpTimeouts, 'command'> }

type AheadReplies = readonly [mail: ReplyResult, rcpt: ReplyResult, data: ReplyResult]

/** Returns null if the server waits for the message (354), else how the envelope ended. */
export function sendEnvelope(current: MailTransaction): Promise<EnvelopeEnd | null> {
  if (current.opened !== null) return readOpened(current, current.opened)
  return current.capabilities.hasPipelining ? sendPipelined(current) : sendInTurn(current)
}

/** Expects the replies to an envelope that is written behind a message, before the reply to that message. */
export function openEnvelope({
  wire,
  timeouts: { mail, rcpt, data },
}: Pick<MailTransaction, 'wire' | 'timeouts'>): OpenedEnvelope {
  const limits = [Math.min(mail, MAX_AHEAD_MS), rcpt, data] as const
  const replies = wire.expect(limits, (count) => {
    opened.count = count
    beginNext(opened.log, count)
  })
  const opened: OpenedEnvelope = { replies, count: 0, log: null }
  return opened
}

/** MAIL, RCPT and DATA as one write. */
export function envelopeCommands(
  current: PreparedMessage & Pick<MailTransaction, 'capabilities'>,
): string {
  return `${mailCommand(current)}\r\n${rcptCommand(current.envelope)}\r\nDATA\r\n`
}

function beginNext(log: StepLog | null, count: number, since?: number): void {
  const next = ENVELOPE_STEPS[count]
  if (next !== undefined) log?.begin(next, since)
}

/** The wait for the replies counts from now on: the time before belongs to the previous message. */
async function readOpened(
  current: MailTransaction,
  opened: OpenedEnvelope,
): Promise<EnvelopeEnd | null> {
  const since = current.now()
  opened.log = current.context.log
  beginNext(opened.log, opened.count, since)
  const replies = await opened.replies
  for (const reply of replies) reply.at = Math.max(reply.at, since)
  const end = await readReplies(current, replies, since)
  return end && refusedAhead(current, end, replies)
}

async function sendPipelined(current: MailTransaction): Promise<EnvelopeEnd | null> {
  const { wire, timeouts } = current
  const limits = [timeouts.mail, timeouts.rcpt, timeouts.data] as const
  const commands = envelopeCommands(current)
  const since = current.now()
  const { log } = current.context
  log.begin('mail', since)
  if (!current.needsReset) {
    const replies = wire.expect(limits, (count) => beginNext(log, count))
    wire.write(commands)
    return readReplies(current, await replies, since)
  }
  const all = wire.expect([timeouts.command, ...limits], (count) => beginNext(log, count - 1))
  wire.write(`RSET\r\n${commands}`)
  const [reset, ...replies] = await all
  return reset.reply?.code === 250 ? readReplies(current, replies, reset.at) : resetRefused(current)
}

async function readReplies(
  current: MailTransaction,
  [mail, rcpt, data]: readonly [ReplyResult, ReplyResult, ReplyResult],
  since: number,
): Promise<EnvelopeEnd | null> {
  const { log } = current.context
  log.recordReply('mail', mail, since)
  if (mail.failure !== null) return lost(current, mail.failure, 'mail')
  log.recordReply('rcpt', rcpt, mail.at)
  log.recordReply('data', data, rcpt.at)
  const replies = { mail, rcpt, data }
  const end = firstRefusal(current, replies)
  if (end !== null) await endEmptyMessage(current, replies)
  return end
}

async function sendInTurn(current: MailTransaction): Promise<EnvelopeEnd | null> {
  if (current.needsReset && !(await isReset(current))) return resetRefused(current)
  const mail = await ask(current, 'mail', mailCommand(current))
  if (!isAccepted(mail)) return refused(current, 'mail', mail)
  const rcpt = await ask(current, 'rcpt', rcptCommand(current.envelope))
  if (!isAccepted(rcpt)) return refused(current, 'rcpt', rcpt)
  const data = await ask(current, 'data', 'DATA')
  return data.reply?.code === 354 ? null : refused(current, 'data', data)
}

async function ask(
  current: MailTransaction,
  step: EnvelopeStep,
  command: string,
): Promise<ReplyResult> {
  const { wire, context, timeouts } = current
  const since = current.now()
  context.log.begin(step, since)
  const replies = wire.expect([timeouts[step]])
  wire.write(`${command}\r\n`)
  const [result] = await replies
  context.log.recordReply(step, result, since)
  return result
}

function firstRefusal(
  current: MailTransaction,
  { mail, rcpt, data }: EnvelopeReplies,
): EnvelopeEnd | null {
  if (!isAccepted(mail)) return refused(current, 'mail', mail)
  if (!isAccepted(rcpt)) return refused(current, 'rcpt', rcpt)
  return data.reply?.code === 354 ? null : refused(current, 'data', data)
}

async function endEmptyMessage(
  { wire, timeouts }: MailTransaction,
  { rcpt, data }: EnvelopeReplies,
) {
  if (wire.failure() !== null || data.reply?.code !== 354) return
  // If the recipient was accepted and the sender refused, the dot would deliver an empty message.
  if (isAccepted(rcpt)) return wire.end()
  const replies = wire.expect([timeouts.message])
  wire.write('.\r\n')
  await replies
}

/** The end after no reply to `step`, or after a reply that does not let the transaction go on. */
function refused(
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
  // The session ended by itself, for example with "421 idle for too long" while MAIL was on its way.
  const isStale = step === 'mail' && reply.code === 421 && outcome.verdict?.site === 'reconnect'
  return { outcome, isStale, needsReset: true }
}

function lost({ context }: CurrentAttempt, failure: WireFailure, step: EnvelopeStep): EnvelopeEnd {
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
async function refusedAhead(
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

function isAccepted({ reply }: ReplyResult): boolean {
  return reply !== null && reply.code < 300
}

/** Sends RSET alone. Returns whether the server accepts it and says nothing more. */
async function isReset({ wire, timeouts }: ResettableSession): Promise<boolean> {
  const replies = wire.expect([timeouts.command])
  wire.write('RSET\r\n')
  const [{ reply }] = await replies
  return reply?.code === 250 && wire.failure() === null
}

/** The end after a RSET that the server did not accept: the session cannot be used again. */
function resetRefused({ wire, context }: CurrentAttempt): EnvelopeEnd {
  wire.end()
  const outcome = outcomeOfFailure(context, { error: 'the server did not accept RSET' })
  return { outcome, isStale: true, needsReset: false }
}
