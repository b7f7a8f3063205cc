/**
 * A nodemailer connection to the smarthost: its options, its failures, and the time limit of each
 * operation.
 */
import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import { type Now, now as systemNow } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import type { CurrentStep } from '../attempt.ts'
import { isLoopback } from '../routing/addresses.ts'
import { DEFAULT_TIMEOUTS, type Timeouts } from './commands.ts'
import { printable } from './reply-parser.ts'
import { tlsText } from './tls.ts'
import { createTranscript, type Transcript } from './transcript.ts'

export type SmarthostOptions = {
  /** The smarthost's name; the certificate must be issued to this name. */
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

export type SmarthostConnection = {
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
