/**
 * An open SMTP session (RFC 5321), which carries one message after another. A mail transaction is the
 * envelope (`envelope.ts`), the message, and the reply to the final dot, which decides. After a
 * refusal the session can carry the next message; any state that cannot be repaired ends the
 * connection.
 *
 * If the next message is known by then, the server is quick and the message is small, the envelope
 * of the next one goes in one write with the final dot, and the session must be given that message
 * next. What the server says about it counts only if the replies are in step (`envelope.ts`), else
 * another session decides (`isStale`). A host that does not read such an envelope is given none for
 * an hour; each delivery thread finds that out for itself. The time of composing the next message
 * belongs to the attempt that asks for it, but to none of its steps.
 */
import type { Now } from '../../base/clock.ts'
import { createLru, type Lru } from '../../base/lru.ts'
import type { AttemptOutcome, CurrentStep } from '../attempt.ts'
import {
  type AttemptContext,
  createStepLog,
  invalidReplyError,
  outcomeOfFailure,
  outcomeOfRefusal,
  outcomeOfReply,
} from '../outcomes.ts'
import {
  checkEnvelope,
  checkIdle,
  prepareData,
  refuseLocally,
  type SmtpCapabilities,
  type SmtpEnvelope,
  type SmtpTimeouts,
} from './commands.ts'
import {
  envelopeCommands,
  type MailTransaction,
  type OpenedEnvelope,
  openEnvelope,
  type PreparedMessage,
  sendEnvelope,
} from './envelope.ts'
import type { SmtpWire } from './wire.ts'

/** The message that `send` must get next, with this same object as its envelope. */
export type NextMessage = { envelope: SmtpEnvelope; message: string }

export type SendOptions = {
  /** When the attempt began, epoch ms; default now. */
  beganAt?: number | undefined
  /** The current step, updated in place. */
  current?: CurrentStep | undefined
  /**
   * Called at most once, before a message that fits in one write. Returns null if no message waits.
   */
  next?: (() => NextMessage | null) | undefined
}

export type SendResult = {
  outcome: AttemptOutcome
  /**
   * The outcome says nothing about the message: send it again on a new connection, and show no attempt. The
   * peer had closed the idle connection before it could read MAIL, or no reply can be trusted to be about the
   * envelope, which was written behind another message. Never true for the first message of a session.
   */
  isStale: boolean
}

/** Hosts that did not read an envelope behind a message; each is forgotten after an hour. */
export type PatientHosts = Pick<Lru<true>, 'get' | 'set'>

export type SmtpSession = {
  readonly host: string
  readonly address: string
  readonly tls: string | null
  /** The steps of opening the session. */
  readonly steps: AttemptOutcome['steps']
  readonly isOpen: boolean
  /** Whether the session is open and sends no message. */
  readonly isUsable: boolean
  /** The number of messages that were tried in this session. */
  readonly sendCount: number
  /**
   * Sends one message at a time. If `options.next` has opened an envelope, its message must be the
   * next one. `message`: the whole message; lines end in CRLF; one character is one octet.
   * @throws TypeError for an invalid envelope or message
   */
  send(envelope: SmtpEnvelope, message: string, options?: SendOptions): Promise<SendResult>
  /** Sends QUIT and waits a moment for the reply. */
  quit(): Promise<void>
  close(): void
}

type SessionDeps = {
  wire: SmtpWire
  timeouts: SmtpTimeouts
  capabilities: SmtpCapabilities
  host: string
  address: string
  /** The steps of opening the session. */
  steps: AttemptOutcome['steps']
  patientHosts: PatientHosts
  now: Now
}

/** `hasTurn`: the reply to the message before it has arrived, and the session goes on. */
type Ahead = PreparedMessage & { opened: OpenedEnvelope; hasTurn: boolean }

/** A message up to this size goes in one write with its final dot. */
const BLOCK_OCTETS = 256 * 1024

/**
 * The next envelope goes behind a message only if the last reply to a message took at most this
 * long.
 */
const QUICK_REPLY_MS = 250

const MAX_PATIENT_HOSTS = 1_000

const PATIENT_FOR_MS = 3_600_000

export function createPatientHosts(): PatientHosts {
  return createLru<true>(MAX_PATIENT_HOSTS, { ttlMs: PATIENT_FOR_MS })
}

export function createSession(deps: SessionDeps): SmtpSession {
  const { wire, capabilities, timeouts, host, address, steps, patientHosts } = deps
  let isBusy = false
  let count = 0
  let needsReset = false
  let isQuick = false
  let ahead: Ahead | null = null
  let isLeft = false

  async function send(
    envelope: SmtpEnvelope,
    message: string,
    options: SendOptions = {},
  ): Promise<SendResult> {
    checkIdle(isBusy)
    const own = takeAhead(envelope)
    const prepared = own ?? prepare(envelope, message)
    const context = contextOf(deps, options)
    const refusal = own === null ? refuseLocally(capabilities, prepared.needs) : null
    if (refusal !== null) {
      const outcome = outcomeOfRefusal(context, { result: 'bounced', ...refusal })
      return { outcome, isStale: false }
    }
    isBusy = true
    wire.setDeadline(timeouts.whole)
    const current: MailTransaction = {
      wire,
      timeouts,
      capabilities,
      now: deps.now,
      envelope,
      data: prepared.data,
      needs: prepared.needs,
      context,
      needsReset,
      opened: own?.opened ?? null,
    }
    const result = await exchange(current, own, options.next)
    wire.setDeadline(null)
    isBusy = false
    count += 1
    return result
  }

  function takeAhead(envelope: SmtpEnvelope): Ahead | null {
    const own = ahead
    if (own === null) return null
    if (own.envelope !== envelope) throw new TypeError('The session has begun another message.')
    ahead = null
    return own
  }

  async function exchange(
    current: MailTransaction,
    own: Ahead | null,
    next: SendOptions['next'],
  ): Promise<SendResult> {
    const wasGone = count > 0 && wire.failure() !== null
    const end = await sendEnvelope(current)
    needsReset = end?.needsReset ?? false
    if (end !== null) {
      if (end.isOutOfTurn && own?.hasTurn && !isLeft) patientHosts.set(host, true)
      return { outcome: end.outcome, isStale: wasGone || (count > 0 && end.isStale) }
    }
    const outcome = await sendMessage(current, () => openNext(next))
    isQuick = outcome.reply !== null && (outcome.steps.at(-1)?.durationMs ?? 0) <= QUICK_REPLY_MS
    // If the session ends here, MAIL gets no answer, which is no sign against the host.
    if (ahead !== null) ahead.hasTurn = wire.failure() === null
    return { outcome, isStale: wasGone }
  }

  /** Returns the envelope of the next message, to be written behind this one; '' without one. */
  function openNext(next: SendOptions['next']): string {
    // The server may have ended the session with its reply to DATA: then nothing is written.
    if (wire.failure() !== null || !isQuick || !capabilities.hasPipelining) return ''
    const following = patientHosts.get(host) === undefined ? next?.() : null
    const prepared = following && prepareQuietly(following)
    if (!prepared || refuseLocally(capabilities, prepared.needs) !== null) return ''
    ahead = { ...prepared, opened: openEnvelope({ wire, timeouts }), hasTurn: false }
    return envelopeCommands({ ...prepared, capabilities })
  }

  /** This side ends the session. */
  function leave(): void {
    isLeft = true
    ahead = null
  }

  function close(): void {
    leave()
    wire.end()
  }

  async function quit(): Promise<void> {
    const isBetween = ahead === null && !isBusy
    leave()
    if (wire.failure() === null && isBetween) {
      const replies = wire.expect([timeouts.quit])
      wire.write('QUIT\r\n')
      await replies
    }
    wire.end()
  }

  return {
    host,
    address,
    tls: wire.tls(),
    steps,
    get isOpen() {
      return wire.failure() === null
    },
    get isUsable() {
      return wire.failure() === null && !isBusy
    },
    get sendCount() {
      return count
    },
    send,
    quit,
    close,
  }
}

/** @throws TypeError for an invalid envelope or message */
function prepare(envelope: SmtpEnvelope, message: string): PreparedMessage {
  checkEnvelope(envelope)
  const data = prepareData(message)
  const { sizeBytes, has8bit } = data
  return { envelope, data, needs: { sizeBytes, has8bit, needsSmtputf8: envelope.needsSmtputf8 } }
}

/**
 * Returns null for a faulty message: its own `send` shows the fault, and the message before it is unharmed.
 */
function prepareQuietly({ envelope, message }: NextMessage): PreparedMessage | null {
  try {
    return prepare(envelope, message)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

function contextOf(
  { host, address, wire, now }: SessionDeps,
  { beganAt, current }: SendOptions,
): AttemptContext {
  return { host, address, tls: wire.tls(), log: createStepLog(now, beganAt ?? now(), current) }
}

/**
 * Sends the message and waits for the reply. A peer that disappears after the final dot may have
 * the message.
 */
async function sendMessage(
  current: MailTransaction,
  openNext: () => string,
): Promise<AttemptOutcome> {
  const { wire, timeouts, context, data } = current
  const replies = wire.expect([timeouts.message])
  const following = data.octets.length > BLOCK_OCTETS ? '' : openNext()
  // The step begins after the next message is composed: composing is no time of the server.
  const since = current.now()
  context.log.begin('message', since)
  const writing = startWriting(current, following)
  const [result] = await replies
  writing.stop()
  context.log.recordReply('message', result, since)
  const { reply, failure } = result
  if (failure !== null) {
    const error = `${failure.text} (message)`
    // If an envelope follows, the final dot may be written although the write is not complete.
    const isMaybeDelivered = writing.isComplete() && (wire.isFlushed() || following !== '')
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

/**
 * Writes the message in blocks, each with its own limit; a small message, its final dot and what follows it
 * are one write.
 */
function startWriting({ wire, timeouts, data, context }: MailTransaction, following: string) {
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
      wire.write((start === 0 ? octets : octets.slice(start)) + ending + following)
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
