/**
 * Opens an SMTP session (RFC 5321) with one address of one MX host: connects, waits for the greeting,
 * and starts TLS if the server offers it. TLS is opportunistic: no certificate is required to be
 * valid. After a broken handshake the caller may open another session without TLS.
 */
import type { SecureContext } from 'node:tls'
import { type Now, now as systemNow } from '../../base/clock.ts'
import type { AttemptOutcome, CurrentStep } from '../attempt.ts'
import {
  type AttemptContext,
  createStepLog,
  outcomeOfTrouble,
  refusalOf,
  type SessionTrouble,
  type StepLog,
} from '../outcomes.ts'
import {
  checkEhloName,
  DEFAULT_TIMEOUTS,
  NO_SMTP_CAPABILITIES,
  namedHost,
  parseCapabilities,
  type SmtpCapabilities,
  type SmtpTimeouts,
} from './commands.ts'
import { cutFailure, type KnownReplies } from './reply-parser.ts'
import {
  createPatientHosts,
  createSession,
  type PatientHosts,
  type SmtpSession,
} from './session.ts'
import { connectWire, type ReplyResult, type SmtpWire } from './wire.ts'

export type SessionOptions = {
  /** The name of the MX host, for SNI, the rules of providers and the stored attempt. */
  host: string
  /** The IP address to connect to. */
  address: string
  port: number
  localAddress?: string
  ehloName: string
  /** The name of this server. Mail to a server with this name would loop. */
  ownName?: string | null
  /** `never`: after a broken handshake. */
  starttls?: 'opportunistic' | 'never'
  timeouts?: Partial<SmtpTimeouts>
  /** The TLS context, shared between sessions, since creating a context takes a millisecond. */
  secureContext?: SecureContext
  /** The cache of parsed replies, shared between sessions, since servers often send the same replies. */
  knownReplies?: KnownReplies
  /** The hosts that did not read an envelope behind a message, shared between sessions. */
  patientHosts?: PatientHosts
  now?: Now
  /** When the attempt began, epoch ms; default now. The times of the steps count from it. */
  beganAt?: number
  /** The current step, updated in place. */
  current?: CurrentStep
  onGreeted?: () => void
  /** Aborts the session while it has no greeting. */
  cutSignal?: AbortSignal
}

export type OpenFailure = {
  ok: false
  outcome: AttemptOutcome
  /** The handshake broke after STARTTLS was accepted: try again with `starttls: 'never'`. */
  isTlsBroken: boolean
  /** Whether `cutSignal` aborted the session. */
  isCut: boolean
}

export type OpenResult = { ok: true; session: SmtpSession } | OpenFailure

type Opening = {
  options: SessionOptions
  timeouts: SmtpTimeouts
  now: Now
  log: StepLog
  wire: SmtpWire
  capabilities: SmtpCapabilities
}

/** @throws TypeError for an invalid address or EHLO name. Remote failures are returned as values. */
export async function openSession(options: SessionOptions): Promise<OpenResult> {
  checkEhloName(options.ehloName)
  const now = options.now ?? systemNow
  const log = createStepLog(now, options.beganAt ?? now(), options.current)
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts }
  const { host, address, port, localAddress, knownReplies } = options
  const since = now()
  log.begin('connect', since)
  const limitMs = timeouts.connect
  const { cutSignal } = options
  const wireOptions = { address, port, localAddress, limitMs, now, knownReplies, cutSignal }
  const connected = await connectWire(wireOptions)
  const error = connected.failure === null ? {} : { error: connected.failure.text }
  log.record({ step: 'connect', host, address, ...error }, since)
  if (connected.wire === null) {
    const context = { host, address, tls: null, log }
    const isCut = connected.failure.kind === 'cut'
    return openFailure(context, { kind: 'failure', error: connected.failure.text, isCut })
  }
  const { wire } = connected
  const opening: Opening = { options, timeouts, now, log, wire, capabilities: NO_SMTP_CAPABILITIES }
  opening.wire.setDeadline(timeouts.whole)
  const trouble = (await handshake(opening)) ?? failureOf(opening.wire)
  if (trouble === null) return { ok: true, session: sessionOf(opening) }
  opening.wire.end()
  return openFailure(contextOf(opening), trouble)
}

function sessionOf({ wire, options, log, timeouts, capabilities, now }: Opening): SmtpSession {
  wire.setDeadline(null)
  const { host, address, patientHosts = createPatientHosts() } = options
  const { steps } = log
  return createSession({ wire, timeouts, capabilities, host, address, steps, patientHosts, now })
}

/**
 * Returns the failure of the connection, for example that an unexpected reply came with the last expected
 * one.
 */
function failureOf(wire: SmtpWire): SessionTrouble | null {
  const failure = wire.failure()
  return failure && { kind: 'failure', error: failure.text }
}

async function handshake(opening: Opening): Promise<SessionTrouble | null> {
  const trouble = (await greet(opening)) ?? (await sendHello(opening))
  if (trouble !== null) return trouble
  if (!opening.capabilities.hasStarttls || opening.options.starttls === 'never') return null
  return startTls(opening)
}

async function greet({
  wire,
  log,
  now,
  timeouts,
  options,
}: Opening): Promise<SessionTrouble | null> {
  const since = now()
  log.begin('greeting', since)
  const cut = () => wire.end(cutFailure(now() - since))
  options.cutSignal?.addEventListener('abort', cut)
  const [greeting] = await wire.expect([timeouts.greeting])
  options.cutSignal?.removeEventListener('abort', cut)
  log.recordReply('greeting', greeting, since)
  if (greeting.reply !== null) options.onGreeted?.()
  return refusalOf('greeting', greeting) ?? loopOf(greeting, options)
}

/** Sends EHLO, then HELO if the server does not support EHLO. */
async function sendHello(opening: Opening): Promise<SessionTrouble | null> {
  const result = await ask(opening, 'ehlo', `EHLO ${opening.options.ehloName}`)
  if (result.reply !== null && result.reply.code >= 500) {
    opening.capabilities = NO_SMTP_CAPABILITIES
    const helo = await ask(opening, 'ehlo', `HELO ${opening.options.ehloName}`)
    return refusalOf('ehlo', helo) ?? loopOf(helo, opening.options)
  }
  const trouble = refusalOf('ehlo', result) ?? loopOf(result, opening.options)
  if (trouble === null) opening.capabilities = parseCapabilities(result.reply?.lines ?? [])
  return trouble
}

/** If the server refuses STARTTLS after all, the session continues without TLS. */
async function startTls(opening: Opening): Promise<SessionTrouble | null> {
  const { wire, log, options, timeouts } = opening
  const result = await ask(opening, 'starttls', 'STARTTLS')
  if (result.failure !== null) return { kind: 'failure', error: result.failure.text }
  if (result.reply.code === 421) {
    return { kind: 'reply', step: 'starttls', reply: result.reply.stored }
  }
  if (result.reply.code !== 220) return null
  const since = opening.now()
  log.begin('starttls', since)
  const { host: servername, secureContext } = options
  const limitMs = timeouts.handshake
  const failure = await wire.upgrade({ servername, limitMs, secureContext })
  log.record({ step: 'starttls', ...(failure ? { error: failure.text } : {}) }, since)
  if (failure !== null) {
    return { kind: 'failure', error: failure.text, isTls: failure.kind !== 'protocol' }
  }
  // EHLO may fail: with TLS 1.3 a server may reject the handshake only after it has ended for the client.
  const trouble = await sendHello(opening)
  return trouble?.kind === 'failure' ? { ...trouble, isTls: true } : trouble
}

async function ask(
  { wire, log, now, timeouts }: Opening,
  step: 'ehlo' | 'starttls',
  command: string,
): Promise<ReplyResult> {
  const since = now()
  log.begin(step, since)
  const replies = wire.expect([timeouts.command])
  wire.write(`${command}\r\n`)
  const [result] = await replies
  log.recordReply(step, result, since)
  return result
}

function loopOf({ reply }: ReplyResult, { ownName }: SessionOptions): SessionTrouble | null {
  if (!ownName || reply === null) return null
  if (namedHost(reply.lines[0] ?? '') !== namedHost(ownName)) return null
  return { kind: 'loop', reply: reply.stored }
}

function contextOf({ options, log, wire }: Opening): AttemptContext {
  return { host: options.host, address: options.address, tls: wire.tls(), log }
}

function openFailure(context: AttemptContext, trouble: SessionTrouble): OpenFailure {
  const isTlsBroken = trouble.kind === 'failure' && trouble.isTls === true
  const isCut = trouble.kind === 'failure' && trouble.isCut === true
  return { ok: false, outcome: outcomeOfTrouble(context, trouble), isTlsBroken, isCut }
}
