/**
 * A session with the smarthost, with the same interface as a session with an MX. nodemailer speaks
 * SMTP, TLS and AUTH; it sends the message unchanged. TLS is required unless the configuration turns it
 * off. The certificate is checked unless the smarthost is on loopback. Without TLS, a password is sent
 * to loopback only. If the smarthost refuses the credentials, the attempt is deferred, since the
 * refusal is not about the message.
 */
import { isIP } from 'node:net'
import type { AttemptOutcome } from '../attempt.ts'
import {
  type AttemptContext,
  createStepLog,
  outcomeOfFailure,
  outcomeOfRefusal,
  outcomeOfReply,
  type StepLog,
} from '../outcomes.ts'
import {
  checkEhloName,
  checkEnvelope,
  checkIdle,
  type MessageNeeds,
  NO_SMTP_CAPABILITIES,
  parseCapabilities,
  prepareData,
  refuseLocally,
  type SmtpEnvelope,
} from './commands.ts'
import type { OpenFailure, OpenResult } from './open-session.ts'
import type { SendOptions, SendResult, SmtpSession } from './session.ts'
import {
  createSmarthostConnection,
  type SmarthostConnection,
  type SmarthostOptions,
  smarthostSecurity,
  tlsOf,
} from './smarthost-connection.ts'

/** @throws TypeError for an invalid address or EHLO name. Remote failures are returned as values. */
export async function openSmarthostSession(options: SmarthostOptions): Promise<OpenResult> {
  checkEhloName(options.ehloName)
  if (isIP(options.address) === 0) throw new TypeError('A socket needs an IP address, not a name.')
  const smarthost = createSmarthostConnection(options)
  const log = createStepLog(smarthost.now, options.beganAt ?? smarthost.now(), options.current)
  if (options.username !== null && !smarthostSecurity(options).allowsAuth) {
    return openFailure(
      smarthost,
      log,
      'AUTH without TLS is allowed for a smarthost on loopback only',
    )
  }
  const error = (await connect(smarthost, log)) ?? (await login(smarthost))
  if (error === null) {
    options.onGreeted?.()
    if (smarthost.connection._socket) smarthost.transcript.listen(smarthost.connection._socket)
    return { ok: true, session: createSmarthostSession(smarthost, log) }
  }
  const failure = openFailure(smarthost, log, error)
  smarthost.fail(error)
  return failure
}

async function connect(
  { connection, transcript, options, run }: SmarthostConnection,
  log: StepLog,
) {
  const { host, address } = options
  transcript.follow(log)
  transcript.expectConnection({ host, address })
  return run((done) => connection.connect(done))
}

async function login({ connection, options, run }: SmarthostConnection): Promise<string | null> {
  const { username, password } = options
  if (username === null) return null
  return run((done) => connection.login({ user: username, pass: password ?? '' }, done))
}

function contextOf(smarthost: SmarthostConnection, log: StepLog): AttemptContext {
  const { host, address } = smarthost.options
  return { host, address, tls: tlsOf(smarthost), log }
}

function openFailure(smarthost: SmarthostConnection, log: StepLog, error: string): OpenFailure {
  const context = contextOf(smarthost, log)
  const refusal = log.steps.find(({ reply }) => reply !== undefined && reply.code >= 400)
  const isLast = refusal !== undefined && log.steps.at(-1) === refusal
  if (isLast && refusal.reply && refusal.step !== 'dns') {
    const outcome = outcomeOfReply(context, { stage: refusal.step, reply: refusal.reply })
    return { ok: false, outcome, isTlsBroken: false, isCut: false }
  }
  return {
    ok: false,
    outcome: outcomeOfFailure(context, { error }),
    isTlsBroken: false,
    isCut: false,
  }
}

function createSmarthostSession(smarthost: SmarthostConnection, openLog: StepLog): SmtpSession {
  const {
    connection,
    options: { host, address },
  } = smarthost
  const tls = tlsOf(smarthost)
  const capabilities = capabilitiesOf(smarthost)
  let isBusy = false
  let sendCount = 0
  let needsReset = false

  async function send(
    envelope: SmtpEnvelope,
    message: string,
    options: SendOptions = {},
  ): Promise<SendResult> {
    checkIdle(isBusy)
    checkEnvelope(envelope)
    const { sizeBytes, has8bit } = prepareData(message)
    const needs = { sizeBytes, has8bit, needsSmtputf8: envelope.needsSmtputf8 }
    const { beganAt = smarthost.now(), current } = options
    const log = createStepLog(smarthost.now, beganAt, current)
    const context = { ...contextOf(smarthost, log), tls }
    const refusal = refuseLocally(capabilities, needs)
    if (refusal !== null) {
      const outcome = outcomeOfRefusal(context, { result: 'bounced', ...refusal })
      return { outcome, isStale: false }
    }
    isBusy = true
    const error = await transact(smarthost, { envelope, message, needs, needsReset, log })
    const outcome = outcomeOfSteps(smarthost, context, error)
    needsReset = error !== null
    isBusy = false
    sendCount += 1
    const isStale = sendCount > 1 && outcome.reply === null && log.steps.every(hasNoReply)
    return { outcome, isStale: isStale && error !== null }
  }

  async function quit(): Promise<void> {
    if (!smarthost.hasFailed() && !isBusy) {
      const timer = setTimeout(() => smarthost.fail('timed out: QUIT'), smarthost.timeouts.quit)
      await smarthost.run(() => connection.quit())
      clearTimeout(timer)
    }
    close()
  }

  function close(): void {
    smarthost.fail('the connection was closed')
  }

  return {
    host,
    address,
    tls,
    steps: openLog.steps,
    get isOpen() {
      return !smarthost.hasFailed()
    },
    get isUsable() {
      return !smarthost.hasFailed() && !isBusy
    },
    get sendCount() {
      return sendCount
    },
    send,
    quit,
    close,
  }
}

function capabilitiesOf({ transcript }: SmarthostConnection) {
  const ehlo = transcript.lastEhlo()
  return ehlo === null ? NO_SMTP_CAPABILITIES : parseCapabilities(ehlo.lines)
}

function hasNoReply({ reply }: AttemptOutcome['steps'][number]): boolean {
  return reply === undefined
}

type SmarthostTransaction = {
  envelope: SmtpEnvelope
  message: string
  needs: MessageNeeds
  needsReset: boolean
  log: StepLog
}

/**
 * nodemailer sends SMTPUTF8 if the envelope needs it. A message whose header alone needs it is sent as
 * 8-bit data.
 */
async function transact(
  smarthost: SmarthostConnection,
  transaction: SmarthostTransaction,
): Promise<string | null> {
  const { envelope, needs, needsReset, log } = transaction
  if (smarthost.hasFailed()) return 'the server closed the connection'
  smarthost.transcript.follow(log)
  if (needsReset) {
    const error = await smarthost.run((done) => smarthost.connection.reset(done))
    if (error !== null) {
      smarthost.fail(error)
      return error
    }
  }
  const commands = {
    from: envelope.reversePath,
    to: envelope.recipient,
    size: needs.sizeBytes,
    use8BitMime: needs.has8bit || needs.needsSmtputf8,
  }
  const message = Buffer.from(transaction.message, 'latin1')
  return smarthost.run((done) => smarthost.connection.send(commands, message, done))
}

function outcomeOfSteps(
  smarthost: SmarthostConnection,
  context: AttemptContext,
  error: string | null,
): AttemptOutcome {
  const { steps } = context.log
  const refusal = steps.find(({ reply }) => reply !== undefined && reply.code >= 400)
  const decisive = refusal ?? steps.find(({ step }) => step === 'message')
  if (decisive?.reply && decisive.step !== 'dns' && (refusal || isRelayed(decisive, error))) {
    const { step: stage, reply } = decisive
    return outcomeOfReply(context, { stage, reply }, 'relayed')
  }
  smarthost.fail(error ?? 'the server did not reply to the message')
  const isMaybeDelivered = smarthost.transcript.isMessageSent() && decisive?.reply === undefined
  return outcomeOfFailure(context, { error: error ?? 'no reply to the message', isMaybeDelivered })
}

function isRelayed({ reply }: AttemptOutcome['steps'][number], error: string | null): boolean {
  return error === null && reply !== undefined && reply.code < 300
}
