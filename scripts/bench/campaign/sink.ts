/**
 * The receivers of the campaign benchmark, in a process of their own: every reply comes after 20 ms;
 * one recipient in twenty is deferred once, as servers do that verify addresses; one in a hundred is
 * unknown. The first message of the parent has the options; the answer is the port. The answer to
 * each later message is the time of the last DATA.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

export type SinkOptions = {
  /** PEM; with it the sink offers STARTTLS. */
  tls?: { key: string; cert: string }
  /** The length of the reply to a message. */
  replyLength: number
}

type Session = {
  isSecure: boolean
  rest: string
  isInData: boolean
  /** Whether RCPT was accepted. */
  isAccepted: boolean
}

const REPLY_MS = 20
const DEFERRED_OF = 20
const UNKNOWN_OF = 100

const deferred = new Set<string>()
let lastDataAt = 0

process.once('message', (options: SinkOptions) => {
  const server = createServer({ noDelay: true }, (socket) => serve(socket, options))
  server.listen(0, '0.0.0.0', 65_000, () => {
    process.send?.((server.address() as AddressInfo).port)
    process.on('message', () => process.send?.(lastDataAt))
  })
})

function serve(socket: Socket, options: SinkOptions, isSecure = false): void {
  const session: Session = { isSecure, rest: '', isInData: false, isAccepted: false }
  socket.setEncoding('latin1')
  socket.on('error', () => socket.destroy())
  if (!isSecure) reply(socket, '220 sink.example ESMTP\r\n')
  socket.on('data', (text: string) => {
    session.rest += text
    read(socket, session, options)
  })
}

/** Answers all complete commands at once. */
function read(socket: Socket, session: Session, options: SinkOptions): void {
  let replies = ''
  for (;;) {
    if (session.isInData) {
      const end = session.rest.indexOf('\r\n.\r\n')
      if (end === -1) {
        session.rest = session.rest.slice(-4)
        break
      }
      session.rest = session.rest.slice(end + 5)
      session.isInData = false
      replies += `${'250 2.0.0 Ok: queued as '.padEnd(options.replyLength, 'A')}\r\n`
      continue
    }
    const end = session.rest.indexOf('\r\n')
    if (end === -1) break
    const line = session.rest.slice(0, end)
    session.rest = session.rest.slice(end + 2)
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'STAR' && options.tls !== undefined) {
      startTls(socket, options)
      return
    }
    if (verb === 'QUIT') {
      reply(socket, `${replies}221 2.0.0 Bye\r\n`, () => socket.end())
      return
    }
    if (verb === 'DATA') {
      session.isInData = session.isAccepted
      if (session.isAccepted) lastDataAt = Date.now()
      replies += session.isAccepted ? '354 Go on\r\n' : '503 5.5.1 RCPT first\r\n'
    } else replies += answer(verb, line, session, options)
  }
  if (replies !== '') reply(socket, replies)
}

function answer(verb: string, line: string, session: Session, options: SinkOptions): string {
  if (verb === 'EHLO') {
    const offer = options.tls === undefined || session.isSecure ? '' : '250-STARTTLS\r\n'
    return `250-sink.example\r\n250-PIPELINING\r\n250-ENHANCEDSTATUSCODES\r\n${offer}250 8BITMIME\r\n`
  }
  if (verb === 'RCPT') {
    const [refusal, isAccepted] = judge(line)
    session.isAccepted = isAccepted
    return refusal
  }
  if (verb === 'MAIL') session.isAccepted = false
  return '250 2.0.0 Ok\r\n'
}

function judge(line: string): [reply: string, isAccepted: boolean] {
  const [, address = '', number = '0'] = /<(\D*(\d+)[^>]*)>/.exec(line) ?? []
  const lot = scatter(Number(number))
  if (lot % UNKNOWN_OF === 13) return ['550 5.1.1 No such user here\r\n', false]
  if (lot % DEFERRED_OF === 7 && !deferred.has(address)) {
    deferred.add(address)
    return ['450 4.1.1 Recipient address rejected: unverified address\r\n', false]
  }
  return ['250 2.1.5 Ok\r\n', true]
}

/** So that those who are refused are at all domains. */
function scatter(number: number): number {
  return Math.imul(number + 1, 2_654_435_761) >>> 12
}

function startTls(socket: Socket, options: SinkOptions): void {
  socket.removeAllListeners('data')
  reply(socket, '220 2.0.0 Ready\r\n', () => {
    const secure = new TLSSocket(socket, { isServer: true, ...options.tls })
    serve(secure, options, true)
  })
}

function reply(socket: Socket, text: string, then?: () => void): void {
  setTimeout(() => {
    if (!socket.destroyed) socket.write(text, then)
  }, REPLY_MS)
}
