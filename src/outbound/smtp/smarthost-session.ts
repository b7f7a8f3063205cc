/**
 * A session with the smarthost, with the same interface as a session with an MX. nodemailer speaks
 * SMTP, TLS and AUTH; it sends our message unchanged. TLS is required unless the configuration turns it
 * off. The certificate is checked unless the smarthost is on loopback. Without TLS, a password is sent
 * to loopback only. If the smarthost refuses our credentials, the attempt is deferred, since the
 * refusal is not about the message.
 */
import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import { type Now, now as systemNow } from '../../clock.ts'
import { describeError } from '../../errors.ts'
import type { AttemptOutcome, CurrentStep } from '../attempt.ts'
import {
  type AttemptContext,
  createStepLog,
  outcomeOfFailure,
  outcomeOfRefusal,
  outcomeOfReply,
  type StepLog,
} from '../outcomes.ts'
import { isLoopback } from '../routing/addresses.ts'
import {
  checkEhloName,
  checkEnvelope,
  type MessageNeeds,
  NO_CAPABILITIES,
  parseCapabilities,
  prepareData,
  refuseLocally,
} from './commands.ts'
import { printable } from './reply-parser.ts'
import type { OpenFailure, OpenResult, Session } from './session.ts'
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts'
import { tlsText } from './tls.ts'
import type { SendInput, SendResult } from './transaction.ts'
import { createTranscript, type Transcript } from './transcript.ts'

export type SmarthostOptions = {
  /** The smarthost's name, which its certificate must bear. */
  host: string
  /** The IP address to connect to. */
  address: string
  port: number
  localAddress?: string
  ehloName: string
  tls: 'starttls' | 'implicit' | 'none'
  /** Null: no AUTH. */
  username: string | null
  password: string | null
  timeouts?: Partial<Timeouts>
  now?: Now
  beganAt?: number
  /** Updated in place with the current step. */
  current?: CurrentStep
  onGreeted?: () => void
}

type SmarthostConnection = {
  options: SmarthostOptions
  timeouts: Timeouts
  now: Now
  connection: SMTPConnection
  transcript: Transcript
  /** Ends the connection and the current operation with this error. */
  fail: (text: string) => void
  /** Runs one operation of nodemailer. Returns its error, or null if it succeeded. */
  run: (start: (done: (error?: Error | null) => void) => void) => Promise<string | null>
  hasFailed: () => boolean
}

/** Whether the certificate is checked, and whether AUTH is allowed. */
export function smarthostSecurity({ address, tls }: Pick<SmarthostOptions, 'address' | 'tls'>) {
  const isLocal = isLoopback(address)
  return { checksCertificate: !isLocal, allowsAuth: tls !== 'none' || isLocal }
}

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

function createSmarthostConnection(options: SmarthostOptions): SmarthostConnection {
  const now = options.now ?? systemNow
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts }
  let onFailure: ((text: string) => void) | null = null
  let failure: string | null = null
  const transcript = createTranscript({ now, timeouts, onTrouble: fail })
  const connection = new SMTPConnection(connectionOptions(options, { transcript, timeouts }))
  connection.on('error', (error: Error) => fail(errorText(error)))
  connection.on('end', () => fail('the server closed the connection'))

  function fail(text: string): void {
    failure ??= text
    transcript.stop(text)
    onFailure?.(text)
    connection.close()
  }

  async function run(start: Parameters<SmarthostConnection['run']>[0]): Promise<string | null> {
    const timer = setTimeout(() => fail('timed out: the session as a whole'), timeouts.whole)
    const error = await new Promise<string | null>((resolve) => {
      onFailure = resolve
      start((problem) => resolve(problem ? errorText(problem) : null))
    })
    onFailure = null
    clearTimeout(timer)
    return error
  }

  const hasFailed = () => failure !== null || connection.destroyed
  return { options, timeouts, now, connection, transcript, fail, run, hasFailed }
}

/** nodemailer's errors quote the server, so their text is escaped. */
function errorText(error: Error): string {
  return printable(describeError(error), 300)
}

function connectionOptions(
  options: SmarthostOptions,
  { transcript, timeouts }: Pick<SmarthostConnection, 'transcript' | 'timeouts'>,
): SMTPConnectionOptions {
  const { host, address, port, localAddress, ehloName, tls } = options
  return {
    host: address,
    port,
    name: ehloName,
    ...(localAddress === undefined ? {} : { localAddress }),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: { rejectUnauthorized: smarthostSecurity(options).checksCertificate },
    logger: transcript.logger,
    transactionLog: true,
    maxResponseSize: 64 * 1024,
    // The transcript enforces the limit of each reply.
    connectionTimeout: timeouts.whole,
    greetingTimeout: timeouts.whole,
    socketTimeout: timeouts.whole,
    socketCloseTimeout: 0,
  }
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

function tlsOf({ connection }: SmarthostConnection): string | null {
  const { _socket: socket } = connection
  if (!(socket instanceof TLSSocket) || !socket.encrypted) return null
  if (socket.getProtocol() === null) return null
  return tlsText(socket)
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

function createSmarthostSession(smarthost: SmarthostConnection, openLog: StepLog): Session {
  const { connection, options } = smarthost
  const tls = tlsOf(smarthost)
  const capabilities = capabilitiesOf(smarthost)
  let isBusy = false
  let sendCount = 0
  let needsReset = false

  async function send(input: SendInput): Promise<SendResult> {
    if (isBusy) throw new TypeError('A session sends one message at a time.')
    checkEnvelope(input)
    const { sizeBytes, has8bit } = prepareData(input.message)
    const needs = { sizeBytes, has8bit, needsSmtputf8: input.needsSmtputf8 }
    const log = createStepLog(smarthost.now, input.beganAt ?? smarthost.now(), input.current)
    const context = { ...contextOf(smarthost, log), tls }
    const refusal = refuseLocally(capabilities, needs)
    if (refusal !== null) {
      return {
        outcome: outcomeOfRefusal(context, { result: 'bounced', ...refusal }),
        isStale: false,
      }
    }
    isBusy = true
    const error = await transact(smarthost, { input, needs, needsReset, log })
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
    host: options.host,
    address: options.address,
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
  return ehlo === null ? NO_CAPABILITIES : parseCapabilities(ehlo.lines)
}

function hasNoReply({ reply }: AttemptOutcome['steps'][number]): boolean {
  return reply === undefined
}

type Transaction = {
  input: SendInput
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
  transaction: Transaction,
): Promise<string | null> {
  const { input, needs, needsReset, log } = transaction
  if (smarthost.hasFailed()) return 'the server closed the connection'
  smarthost.transcript.follow(log)
  if (needsReset) {
    const error = await smarthost.run((done) => smarthost.connection.reset(done))
    if (error !== null) {
      smarthost.fail(error)
      return error
    }
  }
  const envelope = {
    from: input.reversePath,
    to: input.recipient,
    size: needs.sizeBytes,
    use8BitMime: needs.has8bit || needs.needsSmtputf8,
  }
  const message = Buffer.from(input.message, 'latin1')
  return smarthost.run((done) => smarthost.connection.send(envelope, message, done))
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
