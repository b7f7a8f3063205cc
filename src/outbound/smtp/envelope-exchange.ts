/**
 * MAIL, RCPT and DATA: in one write where the server does PIPELINING (RFC 2920), else in turn.
 * A refused envelope leaves the transaction open; RSET goes along with the next MAIL. A DATA that
 * was let through though the recipient was refused is answered by a lone dot (F5).
 */
import type { Now } from '../../clock.ts'
import type { Reply } from '../../mail/replies/reply.ts'
import type { AttemptOutcome } from '../attempt.ts'
import type { Capabilities, MessageNeeds } from './capabilities.ts'
import type { PreparedData } from './data.ts'
import { type Envelope, mailCommand, rcptCommand } from './envelope.ts'
import { outcomeOfFailure, outcomeOfReply, type Place } from './outcome.ts'
import type { Timeouts } from './timeouts.ts'
import type { Answer, Wire } from './wire.ts'
import type { WireFailure } from './wire-failure.ts'

/** A transaction under way. */
export type Exchange = {
  wire: Wire
  timeouts: Timeouts
  capabilities: Capabilities
  now: Now
  place: Place
  envelope: Envelope
  data: PreparedData
  needs: MessageNeeds
  /** The one before was left open. */
  needsReset: boolean
}

/** `isStale`: the peer had left before it could have read our MAIL. */
export type EnvelopeEnd = { outcome: AttemptOutcome; isStale: boolean; needsReset: boolean }

type EnvelopeStep = 'mail' | 'rcpt' | 'data'
type Answers = Record<EnvelopeStep, Answer>

const envelopeSteps: readonly EnvelopeStep[] = ['mail', 'rcpt', 'data']

/** Null: the server waits for the message (354). Else how it ended. */
export function sendEnvelope(current: Exchange): Promise<EnvelopeEnd | null> {
  return current.capabilities.hasPipelining ? sendPipelined(current) : sendInTurn(current)
}

async function sendPipelined(current: Exchange): Promise<EnvelopeEnd | null> {
  const { wire, timeouts } = current
  const limits = [timeouts.mail, timeouts.rcpt, timeouts.data] as const
  const commands = `${mailLine(current)}\r\n${rcptCommand(current.envelope)}\r\nDATA\r\n`
  const since = current.now()
  const { log } = current.place
  log.begin('mail', since)
  const hearUntil = (count: number) => {
    const next = envelopeSteps[count]
    if (next !== undefined) log.begin(next)
  }
  if (!current.needsReset) {
    const answers = wire.expect(limits, hearUntil)
    wire.write(commands)
    return readAnswers(current, await answers, since)
  }
  const all = wire.expect([timeouts.command, ...limits], (count) => hearUntil(count - 1))
  wire.write(`RSET\r\n${commands}`)
  const [reset, ...answers] = await all
  return reset.reply?.code === 250 ? readAnswers(current, answers, reset.at) : resetRefused(current)
}

async function readAnswers(
  current: Exchange,
  [mail, rcpt, data]: readonly [Answer, Answer, Answer],
  since: number,
): Promise<EnvelopeEnd | null> {
  const { log } = current.place
  log.hear('mail', mail, since)
  if (mail.failure !== null) return lost(current, mail.failure, 'mail')
  log.hear('rcpt', rcpt, mail.at)
  log.hear('data', data, rcpt.at)
  const answers = { mail, rcpt, data }
  const end = firstRefusal(current, answers)
  if (end !== null) await endEmptyMessage(current, answers)
  return end
}

async function sendInTurn(current: Exchange): Promise<EnvelopeEnd | null> {
  const { wire, timeouts } = current
  if (current.needsReset) {
    const reset = wire.expect([timeouts.command])
    wire.write('RSET\r\n')
    if ((await reset)[0].reply?.code !== 250) return resetRefused(current)
  }
  const mail = await ask(current, 'mail', mailLine(current))
  if (!isAccepted(mail)) return refused(current, 'mail', mail)
  const rcpt = await ask(current, 'rcpt', rcptCommand(current.envelope))
  if (!isAccepted(rcpt)) return refused(current, 'rcpt', rcpt)
  const data = await ask(current, 'data', 'DATA')
  return data.reply?.code === 354 ? null : refused(current, 'data', data)
}

function mailLine({ envelope, needs, capabilities }: Exchange): string {
  return mailCommand(envelope, needs, capabilities)
}

async function ask(current: Exchange, step: EnvelopeStep, command: string): Promise<Answer> {
  const { wire, place, timeouts } = current
  const since = current.now()
  place.log.begin(step, since)
  const answers = wire.expect([timeouts[step]])
  wire.write(`${command}\r\n`)
  const [answer] = await answers
  place.log.hear(step, answer, since)
  return answer
}

function firstRefusal(current: Exchange, { mail, rcpt, data }: Answers): EnvelopeEnd | null {
  if (!isAccepted(mail)) return refused(current, 'mail', mail)
  if (!isAccepted(rcpt)) return refused(current, 'rcpt', rcpt)
  return data.reply?.code === 354 ? null : refused(current, 'data', data)
}

function isAccepted({ reply }: Answer): boolean {
  return reply !== null && reply.code < 300
}

async function endEmptyMessage({ wire, timeouts }: Exchange, { rcpt, data }: Answers) {
  if (wire.failure() !== null || data.reply?.code !== 354) return
  // With the recipient accepted (and the sender refused) the dot would deliver an empty message.
  if (isAccepted(rcpt)) return wire.end()
  const answers = wire.expect([timeouts.message])
  wire.write('.\r\n')
  await answers
}

function refused(current: Exchange, step: EnvelopeStep, { reply, failure }: Answer): EnvelopeEnd {
  if (failure !== null) return lost(current, failure, step)
  if (reply.code < 400) return desynchronised(current, step, reply.kept)
  const outcome = outcomeOfReply(current.place, { stage: step, reply: reply.kept })
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
