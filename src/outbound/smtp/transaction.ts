/**
 * Mail transactions on an open session, one after another: MAIL, RCPT and DATA, the message, and the
 * reply to the final dot, which decides. After a refusal the session can carry the next message;
 * any state that cannot be repaired ends the connection.
 *
 * The envelope goes in one write if the server supports PIPELINING (RFC 2920), else command by
 * command. A refused envelope leaves the transaction open: RSET precedes the next MAIL. If the server
 * accepts DATA although it refused the recipient, a lone dot ends the empty message.
 */
import type { Now } from '../../clock.ts'
import type { AttemptOutcome, CurrentStep } from '../attempt.ts'
import {
  type AttemptContext,
  createStepLog,
  outcomeOfFailure,
  outcomeOfRefusal,
  outcomeOfReply,
} from '../outcomes.ts'
import {
  type Capabilities,
  checkEnvelope,
  checkIdle,
  type Envelope,
  type MessageNeeds,
  mailCommand,
  type PreparedData,
  prepareData,
  rcptCommand,
  refuseLocally,
} from './commands.ts'
import {
  type EnvelopeEnd,
  type EnvelopeStep,
  invalidReplyError,
  lost,
  refused,
  resetRefused,
} from './envelope-end.ts'
import type { Timeouts } from './timeouts.ts'
import type { ReplyResult, Wire } from './wire.ts'

export type SendOptions = {
  /** When the attempt began, epoch ms; default now. */
  beganAt?: number | undefined
  /** Updated in place. */
  current?: CurrentStep | undefined
}

export type SendResult = {
  outcome: AttemptOutcome
  /**
   * The peer had closed the idle connection before it could read MAIL: send the message again on
   * a new one. Never true for the first message of a session.
   */
  isStale: boolean
}

type TransactionDeps = {
  wire: Wire
  timeouts: Timeouts
  capabilities: Capabilities
  host: string
  address: string
  now: Now
}

type Transactions = {
  send(envelope: Envelope, message: string, options?: SendOptions): Promise<SendResult>
  isBusy(): boolean
  count(): number
}

/** The state of one transaction. */
type MailTransaction = {
  wire: Wire
  timeouts: Timeouts
  capabilities: Capabilities
  now: Now
  context: AttemptContext
  envelope: Envelope
  data: PreparedData
  needs: MessageNeeds
  /** The previous transaction was left open. */
  needsReset: boolean
}

type EnvelopeReplies = Record<EnvelopeStep, ReplyResult>

const ENVELOPE_STEPS: readonly EnvelopeStep[] = ['mail', 'rcpt', 'data']

/** A message up to this size goes in one write with its final dot. */
const BLOCK_OCTETS = 256 * 1024

export function createTransactions(deps: TransactionDeps): Transactions {
  let isBusy = false
  let count = 0
  let needsReset = false

  async function send(
    envelope: Envelope,
    message: string,
    options: SendOptions = {},
  ): Promise<SendResult> {
    checkIdle(isBusy)
    checkEnvelope(envelope)
    const data = prepareData(message)
    const context = contextOf(deps, options)
    const { sizeBytes, has8bit } = data
    const needs = { sizeBytes, has8bit, needsSmtputf8: envelope.needsSmtputf8 }
    const refusal = refuseLocally(deps.capabilities, needs)
    if (refusal !== null) {
      const outcome = outcomeOfRefusal(context, { result: 'bounced', ...refusal })
      return { outcome, isStale: false }
    }
    isBusy = true
    deps.wire.setDeadline(deps.timeouts.whole)
    const result = await exchange({ ...deps, context, envelope, data, needs, needsReset })
    deps.wire.setDeadline(null)
    isBusy = false
    count += 1
    return result
  }

  async function exchange(current: MailTransaction): Promise<SendResult> {
    const wasGone = deps.wire.failure() !== null
    const end = await sendEnvelope(current)
    needsReset = end?.needsReset ?? false
    if (end === null) return { outcome: await sendMessage(current), isStale: false }
    return { outcome: end.outcome, isStale: count > 0 && (wasGone || end.isStale) }
  }

  return { send, isBusy: () => isBusy, count: () => count }
}

function contextOf(
  { host, address, wire, now }: TransactionDeps,
  { beganAt, current }: SendOptions,
): AttemptContext {
  return { host, address, tls: wire.tls(), log: createStepLog(now, beganAt ?? now(), current) }
}

/**
 * Sends the message and waits for the reply. A peer that disappears after the final dot may have
 * the message.
 */
async function sendMessage(current: MailTransaction): Promise<AttemptOutcome> {
  const { wire, timeouts, context } = current
  const since = current.now()
  context.log.begin('message', since)
  const replies = wire.expect([timeouts.message])
  const writing = startWriting(current)
  const [result] = await replies
  writing.stop()
  context.log.recordReply('message', result, since)
  const { reply, failure } = result
  if (failure !== null) {
    const error = `${failure.text} (message)`
    const isMaybeDelivered = writing.isComplete() && wire.isFlushed()
    return outcomeOfFailure(context, { error, isMaybeDelivered })
  }
  // The reply came early: the server would read all further octets as the rest of the message.
  if (!writing.isComplete()) wire.end()
  if (reply.code >= 400 || (reply.code < 300 && writing.isComplete())) {
    return outcomeOfReply(context, { stage: 'message', reply: reply.stored })
  }
  wire.end()
  const error = invalidReplyError(reply, 'the message')
  return outcomeOfFailure(context, { error, reply: reply.stored })
}

/** Writes the message in blocks, each with its own limit; a small message and its final dot are one write. */
function startWriting({ wire, timeouts, data, context }: MailTransaction) {
  const { octets, ending } = data
  let offset = 0
  let isStopped = false

  function writeBlock(): void {
    if (isStopped) return
    const start = offset
    offset = Math.min(start + BLOCK_OCTETS, octets.length)
    if (offset === octets.length) {
      wire.restartLimit(timeouts.message)
      context.log.begin('final-dot')
      wire.write((start === 0 ? octets : octets.slice(start)) + ending)
      return
    }
    wire.restartLimit(timeouts.block)
    wire.write(octets.slice(start, offset), writeBlock)
  }

  writeBlock()
  return {
    isComplete: () => offset === octets.length,
    stop: () => {
      isStopped = true
    },
  }
}

/** Returns null if the server waits for the message (354), else how the envelope ended. */
function sendEnvelope(current: MailTransaction): Promise<EnvelopeEnd | null> {
  return current.capabilities.hasPipelining ? sendPipelined(current) : sendInTurn(current)
}

async function sendPipelined(current: MailTransaction): Promise<EnvelopeEnd | null> {
  const { wire, timeouts, envelope } = current
  const limits = [timeouts.mail, timeouts.rcpt, timeouts.data] as const
  const commands = `${mailCommand(current)}\r\n${rcptCommand(envelope)}\r\nDATA\r\n`
  const since = current.now()
  const { log } = current.context
  log.begin('mail', since)
  const beginNext = (count: number) => {
    const next = ENVELOPE_STEPS[count]
    if (next !== undefined) log.begin(next)
  }
  if (!current.needsReset) {
    const replies = wire.expect(limits, beginNext)
    wire.write(commands)
    return readReplies(current, await replies, since)
  }
  const all = wire.expect([timeouts.command, ...limits], (count) => beginNext(count - 1))
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
  const { wire, timeouts } = current
  if (current.needsReset) {
    const reset = wire.expect([timeouts.command])
    wire.write('RSET\r\n')
    if ((await reset)[0].reply?.code !== 250) return resetRefused(current)
  }
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

function isAccepted({ reply }: ReplyResult): boolean {
  return reply !== null && reply.code < 300
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
