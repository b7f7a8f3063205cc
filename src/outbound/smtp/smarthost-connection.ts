/**
 * A nodemailer connection to the smarthost: its options, its failures, the time limit of each
 * operation, and a transcript of its dialogue.
 */
import { isIP, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import { type Now, now as systemNow } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import type { Reply } from '../../formats/replies/reply.ts'
import type { CurrentStep, StepName } from '../attempt.ts'
import type { StepLog } from '../outcomes.ts'
import { isLoopback } from '../routing/addresses.ts'
import { DEFAULT_TIMEOUTS, type SmtpTimeouts } from './commands.ts'
import { createReplyParser, printable, type ServerReply } from './reply-parser.ts'
import { tlsText } from './tls.ts'

export type SmarthostOptions = {
  /** The smarthost's name; the certificate must be issued to this name. */
  host: string
  /** The IP address to connect to. */
  address: string
  port: number
  localAddress?: string
  ehloName: string
  tls: 'starttls' | 'implicit' | 'none'
  /** The user name for AUTH; null: no AUTH. */
  username: string | null
  password: string | null
  timeouts?: Partial<SmtpTimeouts>
  now?: Now
  beganAt?: number
  /** The current step, updated in place. */
  current?: CurrentStep
  onGreeted?: () => void
}

export type SmarthostConnection = {
  options: SmarthostOptions
  timeouts: SmtpTimeouts
  now: Now
  connection: SMTPConnection
  transcript: Transcript
  /** Ends the connection and the current operation with this error. */
  fail: (text: string) => void
  /** Runs one operation of nodemailer. Returns its error, or null if it succeeded. */
  run: (start: (done: (error?: Error | null) => void) => void) => Promise<string | null>
  hasFailed: () => boolean
}

type LogEntry = { tnx?: string; remotePort?: number }
type LogMethod = (entry: LogEntry, message?: unknown) => void

type Transcript = {
  /** The logger to give to nodemailer. */
  logger: Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', LogMethod>
  /** Records all further steps in `log`. */
  follow(log: StepLog): void
  /** Expects the connection to open within its limit. */
  expectConnection(peer: { host: string; address: string }): void
  /** Reads replies from the socket from now on; call it when the session is open. */
  listen(socket: Socket): void
  lastEhlo(): ServerReply | null
  /** Whether the whole message and its final dot have been written to the socket. */
  isMessageSent(): boolean
  /** Expects nothing more; records the error for the step that was expected next. */
  stop(error: string): void
}

type TranscriptDeps = {
  now: Now
  timeouts: SmtpTimeouts
  /** Called when a reply is late, malformed or unexpected. */
  onTrouble: (text: string) => void
}

type Expected = {
  step: StepName | null
  since: number
  limitMs: number
  peer: { host: string; address: string } | null
}

/** Whether the certificate is checked, and whether AUTH is allowed. */
export function smarthostSecurity({ address, tls }: Pick<SmarthostOptions, 'address' | 'tls'>) {
  const isLocal = isLoopback(address)
  return { checksCertificate: !isLocal, allowsAuth: tls !== 'none' || isLocal }
}

export function createSmarthostConnection(options: SmarthostOptions): SmarthostConnection {
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

/** Describes the TLS of the connection; null without TLS. */
export function tlsOf({ connection }: SmarthostConnection): string | null {
  const { _socket: socket } = connection
  if (!(socket instanceof TLSSocket) || !socket.encrypted) return null
  if (socket.getProtocol() === null) return null
  return tlsText(socket)
}

/**
 * Follows the dialogue of nodemailer's connection: records the steps of the attempt with the server's
 * replies, limits the time for each reply, and applies the rules of `wire.ts`: no reply may be endless,
 * and none may come without a command. Commands are read from nodemailer's transaction log, which masks
 * secrets; they are not stored. Replies are read from the log, too, until the session is open, and then
 * from the socket, before nodemailer reads them.
 */
function createTranscript({ now, timeouts, onTrouble }: TranscriptDeps): Transcript {
  const expected: Expected[] = []
  let log: StepLog | null = null
  let ehlo: ServerReply | null = null
  let timer: NodeJS.Timeout | undefined
  let isConnected = false
  let isListening = false
  let isMessageDue = false
  let isMessageSent = false
  const parser = createReplyParser(onReply)

  function expect(step: StepName | null, limitMs: number, peer: Expected['peer'] = null): void {
    expected.push({ step, since: now(), limitMs, peer })
    if (expected.length === 1) armTimer()
  }

  function armTimer(): void {
    clearTimeout(timer)
    const [next] = expected
    if (next === undefined) return
    const { step, since } = next
    if (step !== null && step !== 'dns') log?.begin(step, since)
    timer = setTimeout(() => onTrouble(`timed out (${next.step ?? 'command'})`), next.limitMs)
  }

  function record(
    { step, since, peer }: Expected,
    result: { reply?: Reply; error?: string },
  ): void {
    if (step !== null) log?.record({ step, ...peer, ...result }, since)
  }

  function onCommand(line: string): void {
    const verb = line.split(/[ :]/, 1)[0]?.toUpperCase() ?? ''
    if (verb === 'MAIL') isMessageSent = false
    // The lone dot of an empty message. Its reply has been expected since the 354.
    if (verb === '.') return
    const step = stepOf(verb)
    expect(step, limitOf(step, timeouts))
  }

  function onOctets(octets: string): void {
    const error = parser.push(octets)
    if (error !== null) onTrouble(`the server sent ${error}`)
    // The reply to the message is expected only now: it cannot be among the octets that came with
    // the 354.
    if (isMessageDue) expect('message', timeouts.message)
    isMessageDue = false
  }

  function onReply(reply: ServerReply): void {
    const next = expected.shift()
    armTimer()
    if (next === undefined) {
      onTrouble('the server sent a reply without a command')
      return
    }
    if (next.step === 'ehlo') ehlo = reply
    isMessageDue = next.step === 'data' && reply.code === 354
    record(next, { reply: reply.stored })
  }

  const debug: LogMethod = ({ tnx }, message) => {
    if (tnx === 'client') onCommand(String(message))
    if (tnx === 'server' && !isListening) onOctets(Buffer.from(`${message}\n`).toString('latin1'))
  }

  const info: LogMethod = ({ tnx, remotePort }) => {
    if (tnx === 'message') {
      isMessageSent = true
      log?.begin('final-dot')
    }
    if (tnx !== 'network' || remotePort === undefined || isConnected) return
    isConnected = true
    const connecting = expected.shift()
    if (connecting) record(connecting, {})
    expect('greeting', timeouts.greeting)
  }

  function stop(error: string): void {
    clearTimeout(timer)
    const [next] = expected.splice(0)
    if (next) record(next, { error })
  }

  function listen(socket: Socket): void {
    isListening = true
    socket.prependListener('data', (bytes: Buffer) => onOctets(bytes.toString('latin1')))
  }

  const ignore = () => undefined
  return {
    logger: { trace: ignore, debug, info, warn: ignore, error: ignore, fatal: ignore },
    follow(next) {
      log = next
    },
    expectConnection: (peer) => expect('connect', timeouts.connect, peer),
    listen,
    lastEhlo: () => ehlo,
    isMessageSent: () => isMessageSent,
    stop,
  }
}

/** Returns null for RSET and QUIT, whose replies are not recorded as steps. */
function stepOf(verb: string): StepName | null {
  switch (verb) {
    case 'EHLO':
    case 'HELO':
      return 'ehlo'
    case 'STARTTLS':
      return 'starttls'
    case 'MAIL':
      return 'mail'
    case 'RCPT':
      return 'rcpt'
    case 'DATA':
      return 'data'
    case 'RSET':
    case 'QUIT':
      return null
    default:
      return 'auth'
  }
}

function limitOf(step: StepName | null, timeouts: SmtpTimeouts): number {
  if (step === 'mail' || step === 'rcpt' || step === 'data') return timeouts[step]
  return timeouts.command
}
