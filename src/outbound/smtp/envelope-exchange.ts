/**
 * MAIL, RCPT and DATA: in one write where the server does PIPELINING (RFC 2920), else in turn.
 * A refused envelope leaves the transaction open; RSET goes along with the next MAIL. A DATA that
 * was let through though the recipient was refused is answered by a lone dot (F5).
 */
import type { Reply } from '../../mail/replies.ts'
import type { AttemptOutcome } from '../attempt.ts'
import type { Capabilities } from './capabilities.ts'
import type { PreparedData } from './data.ts'
import { type Envelope, mailCommand } from './envelope.ts'
import { outcomeOfFailure, outcomeOfReply, type Place } from './outcome.ts'
import type { StepAnswer } from './step-log.ts'
import type { Timeouts } from './timeouts.ts'
import type { Wire, WireFailure } from './wire.ts'

/** A transaction under way. */
export type Exchange = {
  wire: Wire
  timeouts: Timeouts
  capabilities: Capabilities
  place: Place
  input: Envelope
  data: PreparedData
  /** The one before was left open. */
  needsReset: boolean
}

/** `isStale`: the peer had left before it could have read our MAIL. */
export type EnvelopeEnd = { outcome: AttemptOutcome; isStale: boolean; needsReset: boolean }

type EnvelopeStep = 'mail' | 'rcpt' | 'data'
type Answers = Record<EnvelopeStep, StepAnswer>

/** Null: the server waits for the message (354). Else how it ended. */
export async function sendEnvelope(current: Exchange): Promise<EnvelopeEnd | null> {
  return current.capabilities.hasPipelining ? sendPipelined(current) : sendInTurn(current)
}

async function sendPipelined(current: Exchange): Promise<EnvelopeEnd | null> {
  const { wire, timeouts, place } = current
  const reset = current.needsReset ? wire.expect(timeouts.command) : null
  const due = [
    wire.expect(timeouts.mail),
    wire.expect(timeouts.rcpt),
    wire.expect(timeouts.data),
  ] as const
  const commands = `${mailLine(current)}\r\n${rcptLine(current)}\r\nDATA\r\n`
  wire.write(reset === null ? commands : `RSET\r\n${commands}`)
  if (reset !== null && (await reset).reply?.code !== 250) return resetRefused(current)
  const mail = await place.log.wait('mail', due[0])
  if (mail.failure !== null) return lost(current, mail.failure, 'mail')
  const rcpt = await place.log.wait('rcpt', due[1])
  const data = await place.log.wait('data', due[2])
  const answers = { mail, rcpt, data }
  const end = firstRefusal(current, answers)
  if (end !== null) await endEmptyMessage(current, answers)
  return end
}

async function sendInTurn(current: Exchange): Promise<EnvelopeEnd | null> {
  const { wire, timeouts } = current
  if (current.needsReset) {
    const reset = wire.expect(timeouts.command)
    wire.write('RSET\r\n')
    if ((await reset).reply?.code !== 250) return resetRefused(current)
  }
  const mail = await ask(current, 'mail', mailLine(current))
  if (!isAccepted(mail)) return refused(current, 'mail', mail)
  const rcpt = await ask(current, 'rcpt', rcptLine(current))
  if (!isAccepted(rcpt)) return refused(current, 'rcpt', rcpt)
  const data = await ask(current, 'data', 'DATA')
  return data.reply?.code === 354 ? null : refused(current, 'data', data)
}

function mailLine({ input, data, capabilities }: Exchange): string {
  return mailCommand(input, { ...data, needsSmtputf8: input.needsSmtputf8 }, capabilities)
}

function rcptLine({ input }: Exchange): string {
  return `RCPT TO:<${input.recipient}>`
}

function ask(current: Exchange, step: EnvelopeStep, command: string): Promise<StepAnswer> {
  const answer = current.wire.expect(current.timeouts[step])
  current.wire.write(`${command}\r\n`)
  return current.place.log.wait(step, answer)
}

function firstRefusal(current: Exchange, { mail, rcpt, data }: Answers): EnvelopeEnd | null {
  if (!isAccepted(mail)) return refused(current, 'mail', mail)
  if (!isAccepted(rcpt)) return refused(current, 'rcpt', rcpt)
  return data.reply?.code === 354 ? null : refused(current, 'data', data)
}

function isAccepted({ reply }: StepAnswer): boolean {
  return reply !== null && reply.code < 300
}

async function endEmptyMessage({ wire, timeouts }: Exchange, { rcpt, data }: Answers) {
  if (wire.failure() !== null || data.reply?.code !== 354) return
  // With the recipient accepted (and the sender refused) the dot would deliver an empty message.
  if (isAccepted(rcpt)) return wire.end()
  const answer = wire.expect(timeouts.message)
  wire.write('.\r\n')
  await answer
}

function refused(
  current: Exchange,
  step: EnvelopeStep,
  { reply, failure }: StepAnswer,
): EnvelopeEnd {
  if (failure !== null) return lost(current, failure, step)
  if (reply.code < 400) return desynchronised(current, step, reply)
  const outcome = outcomeOfReply(current.place, { stage: step, reply })
  // "421 idle for too long", which crossed our MAIL on its way.
  const isStale = step === 'mail' && reply.code === 421 && outcome.verdict?.site === 'reconnect'
  return { outcome, isStale, needsReset: true }
}

function desynchronised(current: Exchange, step: EnvelopeStep, reply: Reply): EnvelopeEnd {
  current.wire.end()
  const error = `${reply.code} is no answer to ${step.toUpperCase()}`
  const outcome = outcomeOfFailure(current.place, { error, reply })
  return { outcome, isStale: false, needsReset: false }
}

function lost({ place }: Exchange, failure: WireFailure, step: EnvelopeStep): EnvelopeEnd {
  const outcome = outcomeOfFailure(place, { error: `${failure.text} (${step})` })
  const isGone = failure.kind === 'closed' || failure.kind === 'network'
  return { outcome, isStale: step === 'mail' && isGone, needsReset: false }
}

function resetRefused({ wire, place }: Exchange): EnvelopeEnd {
  wire.end()
  const outcome = outcomeOfFailure(place, { error: 'the server did not take RSET' })
  return { outcome, isStale: true, needsReset: false }
}
