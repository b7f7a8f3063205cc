/**
 * An SMTP receiver on raw sockets that can misbehave at every stage. By default it takes all mail.
 * `respond` sees every command first (also CONNECT, before the greeting, and MESSAGE, after the
 * final dot): a string is sent instead of the usual reply, a function gets the socket and does what
 * it likes (nothing, half a reply, an end), undefined leaves it to the sink.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate } from './certificate.ts'

type SinkMessage = {
  from: string
  to: string[]
  /** As sent, dots unstuffed. */
  bytes: Buffer
  isTls: boolean
  /** Which connection brought it, from 1. */
  connection: number
}

export type SinkCommand = {
  /** CONNECT, EHLO, MAIL, …, MESSAGE. */
  verb: string
  /** Of MESSAGE: the message as it came over the wire. */
  line: string
  connection: number
  /** How often this verb was seen, from 1. */
  count: number
  isTls: boolean
}

export type SinkAction = string | ((socket: Socket) => void)

export type SinkOptions = {
  host?: string
  /** Default: any free one. */
  port?: number
  /** Default: the name of the sink. */
  name?: string
  /** The extensions offered; default PIPELINING, 8BITMIME, SMTPUTF8, ENHANCEDSTATUSCODES. */
  ehlo?: readonly string[]
  /** Offers STARTTLS. */
  tls?: Certificate
  respond?: (command: SinkCommand) => SinkAction | undefined
  /** Called when `openCount` grows. */
  onOpened?: () => void
  /** Keep only the count. */
  forgets?: boolean
}

export type Sink = {
  host: string
  port: number
  messages: SinkMessage[]
  /** Every command line, in order, without CRLF. */
  lines: string[]
  /** Messages answered with 250. */
  acceptedCount(): number
  connectionCount(): number
  /**
   * The connections that the client has not ended: since QUIT, or the end of its octets. A
   * connection counts from the second turn of the event loop, in which the ends that happened
   * before it are known.
   */
  openCount(): number
  /** Resolves once so many messages were accepted. */
  waitForMessages(count: number): Promise<void>
  stop(): Promise<void>
}

/** Cuts the connection without a word. */
export const drop: SinkAction = (socket) => socket.destroy()
/** Never answers. */
export const silence: SinkAction = () => undefined

/** The event of a socket whose client has sent QUIT. */
const QUIT = 'client sent QUIT'

const defaultExtensions = ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']

type Receiver = {
  options: SinkOptions
  messages: SinkMessage[]
  lines: string[]
  counts: Map<string, number>
  accepted: number
  connections: number
  /** Counted by `openCount`. */
  open: Set<Socket>
  onAccepted: (() => void)[]
}

export async function startSink(options: SinkOptions = {}): Promise<Sink> {
  const receiver: Receiver = {
    options,
    messages: [],
    lines: [],
    counts: new Map(),
    accepted: 0,
    connections: 0,
    open: new Set(),
    onAccepted: [],
  }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    receiver.connections += 1
    socket.setNoDelay(true)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    countOpen(receiver, socket)
    serve(receiver, socket, receiver.connections)
  })
  const host = options.host ?? '127.0.0.1'
  server.listen(options.port ?? 0, host)
  await once(server, 'listening')
  return {
    host,
    port: (server.address() as AddressInfo).port,
    messages: receiver.messages,
    lines: receiver.lines,
    acceptedCount: () => receiver.accepted,
    connectionCount: () => receiver.connections,
    openCount: () => receiver.open.size,
    waitForMessages: (count) => waitForMessages(receiver, count),
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function countOpen({ options, open }: Receiver, socket: Socket): void {
  let hasEnded = false
  const end = () => {
    hasEnded = true
    open.delete(socket)
  }
  const begin = () => {
    if (hasEnded) return
    open.add(socket)
    options.onOpened?.()
  }
  socket.once('end', end).once('close', end).once(QUIT, end)
  setImmediate(() => setImmediate(begin))
}

async function waitForMessages(receiver: Receiver, count: number): Promise<void> {
  while (receiver.accepted < count) {
    await new Promise<void>((resolve) => receiver.onAccepted.push(resolve))
  }
}

function serve(receiver: Receiver, plain: Socket, connection: number): void {
  let socket = plain
  let input = ''
  let pieces: string[] = []
  let isData = false
  let isTls = false
  let from: string | null = null
  let to: string[] = []
  listen()
  act('CONNECT', '', `220 ${name()} ESMTP sink`)

  function listen(): void {
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      input += chunk.toString('latin1')
      while (!socket.destroyed && (isData ? takeMessage() : takeLine()));
    })
  }

  function name(): string {
    return receiver.options.name ?? 'sink.test'
  }

  function takeLine(): boolean {
    const end = input.indexOf('\n')
    if (end === -1) return false
    const line = input.slice(0, end).replace(/\r$/, '')
    input = input.slice(end + 1)
    receiver.lines.push(line)
    command(line)
    return true
  }

  /** Piece by piece, since large messages come in thousands of them. */
  function takeMessage(): boolean {
    const tail = pieces.at(-1)?.slice(-4) ?? '\r\n'
    const searched = tail + input
    const end = searched.indexOf('\r\n.\r\n')
    if (end === -1) {
      // A tail is never too short to hold the beginning of the end.
      if (input.length >= 4) {
        pieces.push(input)
        input = ''
      }
      return false
    }
    const all = pieces.join('') + input
    const begin = all.length - input.length
    const text = all.slice(0, Math.max(0, begin - tail.length + end + 2))
    input = searched.slice(end + 5)
    pieces = []
    isData = false
    const sent = act('MESSAGE', text, '250 2.0.0 Ok: queued')
    if (sent.startsWith('2')) accept(text)
    from = null
    to = []
    return true
  }

  function accept(text: string): void {
    receiver.accepted += 1
    if (!receiver.options.forgets) {
      const bytes = Buffer.from(text.replace(/(^|\r\n)\./g, '$1'), 'latin1')
      receiver.messages.push({ from: from ?? '', to, bytes, isTls, connection })
    }
    for (const resolve of receiver.onAccepted.splice(0)) resolve()
  }

  function command(line: string): void {
    const verb = line.split(/[ :]/, 1)[0]?.toUpperCase() ?? ''
    const path = /<([^>]*)>/.exec(Buffer.from(line, 'latin1').toString('utf8'))?.[1] ?? ''
    switch (verb) {
      case 'EHLO':
        act(verb, line, ehloReply())
        return
      case 'MAIL':
        if (act(verb, line, '250 2.1.0 Ok').startsWith('2')) from = path
        return
      case 'RCPT':
        if (act(verb, line, from === null ? noSender : '250 2.1.5 Ok').startsWith('2'))
          to.push(path)
        return
      case 'DATA':
        isData = act(verb, line, to.length === 0 ? noRecipient : '354 go on').startsWith('354')
        return
      case 'RSET':
        from = null
        to = []
        act(verb, line, '250 2.0.0 Ok')
        return
      case 'STARTTLS':
        if (act(verb, line, '220 2.0.0 Ready').startsWith('220')) secure()
        return
      case 'QUIT':
        plain.emit(QUIT)
        if (act(verb, line, '221 2.0.0 Bye') !== '') socket.end()
        return
      default:
        act(verb, line, verb === 'HELO' ? `250 ${name()}` : '502 5.5.1 What?')
    }
  }

  function ehloReply(): string {
    const offers = [...(receiver.options.ehlo ?? defaultExtensions)]
    if (receiver.options.tls && !isTls) offers.push('STARTTLS')
    const lines = [`${name()} greets you`, ...offers]
    return lines.map((line, at) => `250${at === lines.length - 1 ? ' ' : '-'}${line}`).join('\r\n')
  }

  function secure(): void {
    const { tls } = receiver.options
    if (!tls) return
    plain.removeAllListeners('data')
    socket = new TLSSocket(plain, { isServer: true, key: tls.key, cert: tls.cert })
    isTls = true
    input = ''
    listen()
  }

  /** What was sent; '' where `respond` took the socket. */
  function act(verb: string, line: string, usual: string): string {
    const count = (receiver.counts.get(verb) ?? 0) + 1
    receiver.counts.set(verb, count)
    const action = receiver.options.respond?.({ verb, line, connection, count, isTls }) ?? usual
    if (typeof action === 'string') socket.write(`${action}\r\n`)
    else action(socket)
    return typeof action === 'string' ? action : ''
  }
}

const noSender = '503 5.5.1 MAIL first'
const noRecipient = '503 5.5.1 RCPT first'
