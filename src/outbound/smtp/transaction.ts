/**
 * Mail transactions on an open session, one after another: envelope, message, and the reply to the
 * final dot, which decides. A refusal leaves the session fit for the next message; what cannot be
 * put right ends the connection.
 */
import type { Now } from '../../clock.ts'
import type { AttemptOutcome } from '../attempt.ts'
import type { CurrentStep } from '../thread/progress.ts'
import { type Capabilities, refuseLocally } from './capabilities.ts'
import { prepareData } from './data.ts'
import { checkEnvelope, type Envelope } from './envelope.ts'
import { type Exchange, sendEnvelope } from './envelope-exchange.ts'
import { outcomeOfFailure, outcomeOfRefusal, outcomeOfReply, type Place } from './outcome.ts'
import { createStepLog } from './step-log.ts'
import type { Timeouts } from './timeouts.ts'
import type { Wire } from './wire.ts'

export type SendInput = Envelope & {
  /** The whole message, lines ended by CRLF; one character is one octet. */
  message: string
  /** When the attempt began, for the steps' times; default now. */
  beganAt?: number
  /** Kept up to date with the step at hand. */
  current?: CurrentStep
}

export type SendResult = {
  outcome: AttemptOutcome
  /**
   * The peer had closed the connection while it was idle: nothing was tried, send it again on a
   * new one. Never so on the first message of a session.
   */
  isStale: boolean
}

export type TransactionDeps = {
  wire: Wire
  timeouts: Timeouts
  capabilities: Capabilities
  host: string
  address: string
  now: Now
}

export type Transactions = {
  send(input: SendInput): Promise<SendResult>
  isBusy(): boolean
  count(): number
}

/** A message up to this size goes in one write with its final dot. */
const blockOctets = 256 * 1024

export function createTransactions(deps: TransactionDeps): Transactions {
  let isBusy = false
  let count = 0
  let needsReset = false

  async function send(input: SendInput): Promise<SendResult> {
    if (isBusy) throw new TypeError('A session sends one message at a time.')
    checkEnvelope(input)
    const data = prepareData(input.message)
    const place = placeOf(deps, input)
    const { sizeBytes, has8bit } = data
    const needs = { sizeBytes, has8bit, needsSmtputf8: input.needsSmtputf8 }
    const refusal = refuseLocally(deps.capabilities, needs)
    if (refusal !== null) {
      return { outcome: outcomeOfRefusal(place, { result: 'bounced', ...refusal }), isStale: false }
    }
    isBusy = true
    deps.wire.setDeadline(deps.timeouts.whole)
    const result = await exchange({ ...deps, place, envelope: input, data, needs, needsReset })
    deps.wire.setDeadline(null)
    isBusy = false
    count += 1
    return result
  }

  async function exchange(current: Exchange): Promise<SendResult> {
    const wasGone = deps.wire.failure() !== null
    const end = await sendEnvelope(current)
    needsReset = end?.needsReset ?? false
    if (end === null) return { outcome: await sendMessage(current), isStale: false }
    return { outcome: end.outcome, isStale: count > 0 && (wasGone || end.isStale) }
  }

  return { send, isBusy: () => isBusy, count: () => count }
}

function placeOf(
  { host, address, wire, now }: TransactionDeps,
  { beganAt, current }: SendInput,
): Place {
  return { host, address, tls: wire.tls(), log: createStepLog(now, beganAt ?? now(), current) }
}

/** F2: from the final dot on, a peer that vanishes may have the message. */
async function sendMessage(current: Exchange): Promise<AttemptOutcome> {
  const { wire, timeouts, place } = current
  const since = current.now()
  place.log.begin('message', since)
  const answers = wire.expect([timeouts.message])
  const writing = startWriting(current)
  const [answer] = await answers
  writing.stop()
  place.log.hear('message', answer, since)
  const { reply, failure } = answer
  if (failure !== null) {
    const error = `${failure.text} (message)`
    const isMaybeDelivered = writing.isComplete() && wire.isFlushed()
    return outcomeOfFailure(place, { error, isMaybeDelivered })
  }
  // Half a message cannot be unsaid: whatever came next would be read as the rest of it.
  if (!writing.isComplete()) wire.end()
  if (reply.code >= 400 || (reply.code < 300 && writing.isComplete())) {
    return outcomeOfReply(place, { stage: 'message', reply: reply.kept })
  }
  wire.end()
  const error = `${reply.code} is no answer to the message`
  return outcomeOfFailure(place, { error, reply: reply.kept })
}

/** Block by block, each within its limit; the small message and its final dot are one write. */
function startWriting({ wire, timeouts, data, place }: Exchange) {
  const { octets, ending } = data
  let offset = 0
  let isStopped = false

  function writeBlock(): void {
    if (isStopped) return
    const start = offset
    offset = Math.min(start + blockOctets, octets.length)
    if (offset === octets.length) {
      wire.restartLimit(timeouts.message)
      place.log.begin('final-dot')
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
