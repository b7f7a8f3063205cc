/**
 * An smtp-server, on one address of a service, with the protections that smtp-server leaves to others:
 * limits on commands, messages, errors and time; enhanced codes; and no pipelining before the client
 * can know that it is allowed.
 *
 * smtp-server 3.21.6 itself does the following, as the tests verify: it drops data that came without
 * TLS after STARTTLS; it rejects clients that talk before the greeting; it bounds the command line; it
 * does not read from a client that does not read its replies. `data-reader.ts` finds the end of a
 * message.
 */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import type { CertificatePair } from '../config/certificates/pair.ts'
import type { ListenAddress } from '../config/config.ts'
import { readDataWith } from './data-reader.ts'
import type { ServerSession, SmtpSessions } from './sessions.ts'

type CommandAddress = ReturnType<SMTPConnection['_parseAddressCommand']>
/** 'handling': a handler of a command or a message is running. */
type Phase = 'command' | 'data' | 'handling'
type UpgradeInput = Parameters<SMTPServer['_upgrade']>
type GuardedOptions = SMTPServerOptions & { name: string }

/** The beginning of a reply that has its own enhanced code (RFC 3463). */
const ENHANCED_CODE_START = /^[245]\.\d{1,3}\.\d{1,3} /
const IN_BRACKETS = /^rcpt to:\s{0,9}<([^<>]*)>/i
const LINE_FEED = 0x0a
/** A client that exceeds the size limit by this factor is disconnected. */
const EXCESS_FACTOR = 2
/** The code of the reply to too many recipients, which is not counted as an error of the client. */
const TOO_MANY_RECIPIENTS = 452
const COMMON_OPTIONS: SMTPServerOptions = {
  logger: false,
  banner: 'Pillarbox',
  heloResponse: '%s',
  disableReverseLookup: true,
  hideENHANCEDSTATUSCODES: false,
  // Accepts any local part: `parseAddress` decides which addresses are valid.
  lenientAddressParsing: true,
  minVersion: 'TLSv1.2',
}

export class GuardedServer extends SMTPServer {
  readonly sessions: SmtpSessions

  constructor(options: GuardedOptions, sessions: SmtpSessions) {
    super({ ...COMMON_OPTIONS, socketTimeout: sessions.limits.commandMs, ...options })
    this.sessions = sessions
  }

  override connect(socket: Socket | TLSSocket, options?: SMTPConnectionOptions | null): void {
    const connection = new GuardedConnection(this, this.sessions, socket, options)
    const refusal = this.sessions.refuse(connection.remoteAddress)
    if (refusal !== undefined) {
      refuseConnection(socket, refusal)
      this.sessions.refused(421)
      return
    }
    this.sessions.add(connection)
    this.connections.add(connection)
    connection.on('error', (error: Error) => this._onError(error))
    connection.init()
  }

  /** Returns the address with its actual port. @throws Error if it cannot listen there */
  async bind({ host, port, isTls }: ListenAddress): Promise<ListenAddress> {
    const listener = this.listen(port, host)
    await once(listener, 'listening')
    const bound = listener.address() as AddressInfo
    return { host: bound.address, port: bound.port, isTls }
  }

  /** smtp-server asks a socket that ended in its handshake for the protocol, which can crash Node. */
  override _upgrade(...[socket, callback]: UpgradeInput): void {
    super._upgrade(socket, callback)
    const secured = this._pendingSockets.get(socket)
    if (!(secured instanceof TLSSocket)) return
    const getProtocol = secured.getProtocol.bind(secured)
    secured.getProtocol = () => (secured.destroyed ? null : getProtocol())
  }

  /** Uses the pair for all later handshakes, and offers STARTTLS if there was no certificate before. */
  renew(pair: CertificatePair): void {
    this.updateSecureContext(pair)
    const { disabledCommands } = this.options
    this.options.disabledCommands = disabledCommands.filter((name) => name !== 'STARTTLS')
  }
}

class GuardedConnection extends SMTPConnection implements ServerSession {
  readonly #sessions: SmtpSessions
  readonly #startedAt = performance.now()
  /** When the last reply was sent; the client's time for the next command begins there. */
  #repliedAt = performance.now()
  #commands = 0
  #errors = 0
  #transaction = 0

  constructor(
    server: SMTPServer,
    sessions: SmtpSessions,
    socket: Socket | TLSSocket,
    options?: SMTPConnectionOptions | null,
  ) {
    super(server, socket, options)
    this.#sessions = sessions
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    this.#repliedAt = performance.now()
    const isOwn = typeof data === 'string' && ENHANCED_CODE_START.test(data)
    super.send(code, data, isOwn ? false : context)
    if (code >= 400) this.#sessions.refused(code)
    if (code < 400 || code === 421 || code === TOO_MANY_RECIPIENTS) return
    this.#errors += 1
    if (this.#errors >= this.#sessions.limits.errors) {
      super.send(421, '4.7.0 Too many errors', false)
      this.#sessions.refused(421)
    }
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    const { limits } = this.#sessions
    if (this._transactionCounter !== this.#transaction) this.#commands = 0
    this.#transaction = this._transactionCounter
    this.#commands += 1
    const isOneMore = this.#transaction >= limits.messages && isVerb(command, 'MAIL')
    if (this.#commands > limits.commands) this.send(421, '4.7.0 Too many commands')
    else if (isOneMore) this.send(421, '4.7.0 Too many messages in one session, connect again')
    else super._onCommand(command, callback)
  }

  /** Before the reply to EHLO a client may send one line only (RFC 2920 section 3.1). */
  override _createParser(): ReturnType<SMTPConnection['_createParser']> {
    const parser = super._createParser()
    readDataWith(parser)
    const write = parser._write.bind(parser)
    parser._write = (chunk, encoding, next) => {
      if (!this.#isPipelinedEarly(chunk)) return write(chunk, encoding, next)
      this.send(554, '5.5.0 Wait for the reply to EHLO')
      this.close()
      next()
    }
    return parser
  }

  #isPipelinedEarly(chunk: Buffer): boolean {
    if (!this._ready || this._closing || this.hostNameAppearsAs !== false) return false
    const end = chunk.indexOf(LINE_FEED)
    return end !== -1 && end < chunk.length - 1
  }

  /** Refuses as unknown some recipients whose addresses smtp-server would call a syntax error. */
  override _parseAddressCommand(name: string, command: Buffer | string): CommandAddress {
    const parsed = super._parseAddressCommand(name, command)
    if (parsed !== false || name !== 'rcpt to') return parsed
    const [, address = ''] = IN_BRACKETS.exec(command.toString()) ?? []
    return isNeverKnown(address) ? { address, args: false } : false
  }

  override _onClose(): void {
    super._onClose()
    this.#sessions.delete(this)
  }

  checkTimeouts(now: number, commandMs: number): void {
    if (this._closing || this._closed) return
    const { dataMs, sessionMs } = this.#sessions.limits
    const phase = this.#phase()
    const waited = now - this.#repliedAt
    if (phase === 'data') {
      if (waited > dataMs) this.send(421, '4.4.2 The message took too long')
      else if (this.#isFarTooLarge()) this.send(421, '4.7.0 The message is far too large')
      return
    }
    if (phase === 'handling') return
    if (waited > commandMs) this.send(421, '4.4.2 No command came for too long')
    else if (now - this.#startedAt > sessionMs) this.send(421, '4.4.2 The session took too long')
  }

  leave(): void {
    if (this.#phase() !== 'command') return
    if (!this._closing) this.send(421, '4.3.2 This server is going down, try again later')
    if (!this._upgrading) this._socket.destroySoon()
  }

  destroy(): void {
    this._socket.destroy()
  }

  #phase(): Phase {
    if (this._parser !== false && this._parser._dataMode) return 'data'
    return this._handlerPending || this._dataStream ? 'handling' : 'command'
  }

  #isFarTooLarge(): boolean {
    const size = Number(this._server.options.size) || Number.POSITIVE_INFINITY
    return this._parser !== false && this._parser.dataBytes > size * EXCESS_FACTOR
  }
}

/** Sends a refusal and closes the connection without reading from it. */
function refuseConnection(socket: Socket | TLSSocket, text: string): void {
  socket.on('error', () => socket.destroy())
  socket.write(`421 ${text}\r\n`)
  socket.destroySoon()
}

/** Whether `parseAddress` can never accept the address: it has quotes or a second `@`. */
function isNeverKnown(address: string): boolean {
  return address.includes('"') || address.split('@', 3).length > 2
}

function isVerb(command: Buffer, verb: string): boolean {
  return command.toString('latin1', 0, verb.length).toUpperCase() === verb
}
