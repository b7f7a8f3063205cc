/**
 * One connection to an SMTP server: writes octets and reads replies in order. The replies to a
 * command are expected (`expect`) before the command is written. An unexpected reply ends the
 * connection, because the two sides no longer agree: no reply may count as the reply to a later
 * command. A 421 ends the connection, too. Nothing that the peer does makes a function throw or
 * reject: after a failure, `expect` and `upgrade` return it.
 */
import type { X509Certificate } from 'node:crypto'
import { connect, isIP, type Socket } from 'node:net'
import type { Now } from '../../base/clock.ts'
import { createDeadline } from './commands.ts'
import {
  createReplyParser,
  cutFailure,
  type KnownReplies,
  networkFailure,
  printable,
  type ReplyParser,
  type ServerReply,
  timedOut,
  type WireFailure,
} from './reply-parser.ts'
import { startTls, tlsText, type UpgradeOptions } from './tls.ts'

/** A reply or the failure in its place. `at`: when it came, epoch ms. */
export type ReplyResult =
  | { reply: ServerReply; failure: null; at: number }
  | { reply: null; failure: WireFailure; at: number }

export type SmtpWire = {
  /**
   * Waits for as many replies as there are limits, after the replies that earlier calls wait for. Each
   * limit starts when the previous reply has arrived. `onReply` is called for each reply with the number
   * of replies so far.
   */
  expect<const L extends readonly number[]>(
    limitsMs: L,
    onReply?: (count: number) => void,
  ): Promise<{ [K in keyof L]: ReplyResult }>
  /** Starts the limit of the current reply again, with this value. */
  restartLimit(limitMs: number): void
  /** One character is one octet. `onFlushed` is called when they are written, never after a failure. */
  write(octets: string, onFlushed?: () => void): void
  /** Whether all octets have been written; after a failure: whether they had been by then. */
  isFlushed(): boolean
  /** Limits the time of everything until the next call; null = no limit. */
  setDeadline(limitMs: number | null): void
  failure(): WireFailure | null
  /** Starts TLS on the connection with any certificate. Returns null if it succeeded. */
  upgrade(options: UpgradeOptions): Promise<WireFailure | null>
  /** Protocol, certificate and cipher; null without TLS. */
  tls(): string | null
  /** The server's certificate; null without TLS. */
  certificate(): X509Certificate | null
  end(reason?: WireFailure): void
}

type WireOptions = {
  address: string
  port: number
  localAddress: string | undefined
  limitMs: number
  now: Now
  knownReplies: KnownReplies | undefined
  /** Aborts the connection while it is being opened. */
  cutSignal?: AbortSignal | undefined
}

type Waiter = {
  limitsMs: readonly number[]
  results: ReplyResult[]
  onReply: ((count: number) => void) | undefined
  resolve: (results: ReplyResult[]) => void
}

/** A socket that reads into one buffer and passes the octets on at once. */
type ReadableSocket = { socket: Socket; onOctets: (octets: string) => void }

const READ_BYTES = 4_096

/** Connects to an IP address. @throws TypeError for a name */
export function connectWire(
  options: WireOptions,
): Promise<{ wire: SmtpWire; failure: null } | { wire: null; failure: WireFailure }> {
  if (isIP(options.address) === 0) {
    throw new TypeError('A socket is opened to an address, not to a name.')
  }
  return new Promise((resolve) => {
    const connection = openSocket(options)
    const { socket } = connection
    const { cutSignal, now } = options
    const since = now()
    const cut = () => fail(cutFailure(now() - since))
    const fail = (failure: WireFailure) => {
      clearTimeout(timer)
      cutSignal?.removeEventListener('abort', cut)
      socket.destroy()
      resolve({ wire: null, failure })
    }
    const timer = setTimeout(() => fail(timedOut('connecting')), options.limitMs)
    const onError = (error: Error) => fail(networkFailure(error))
    socket.once('error', onError)
    cutSignal?.addEventListener('abort', cut)
    socket.once('connect', () => {
      clearTimeout(timer)
      cutSignal?.removeEventListener('abort', cut)
      socket.removeListener('error', onError)
      socket.setNoDelay(true)
      resolve({ wire: createWire(connection, options), failure: null })
    })
  })
}

function openSocket({ address, port, localAddress }: WireOptions): ReadableSocket {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  const callback = (count: number) => {
    connection.onOctets(buffer.toString('latin1', 0, count))
    return true
  }
  const socket = connect({
    host: address,
    port,
    ...(localAddress ? { localAddress } : {}),
    onread: { buffer, callback },
  })
  const connection: ReadableSocket = { socket, onOctets: () => undefined }
  return connection
}

function createWire(connection: ReadableSocket, { now, knownReplies }: WireOptions): SmtpWire {
  let socket = connection.socket
  let parser: ReplyParser = createReplyParser(onReply, knownReplies)
  let failure: WireFailure | null = null
  let wasFlushed = true
  let tlsName: string | null = null
  let certificate: X509Certificate | null = null
  /** The callers that wait for a reply; the first gets the next reply. */
  const waiters: Waiter[] = []
  const replyLimit = createDeadline(() => end(timedOut('waiting for a reply')))
  const deadline = createDeadline(() => end(timedOut('the session as a whole')))
  connection.onOctets = onOctets
  attach()

  function attach(): void {
    socket.on('end', onClosed)
    socket.on('close', onClosed)
    socket.on('error', onError)
  }

  function detach(): void {
    socket.removeListener('end', onClosed)
    socket.removeListener('close', onClosed)
  }

  function onOctets(octets: string): void {
    if (failure !== null) return
    const error = parser.push(octets)
    if (error !== null) end({ kind: 'protocol', text: `the server sent ${error}` })
  }

  function onReply(reply: ServerReply): void {
    if (failure !== null) return
    const [waiter] = waiters
    if (waiter === undefined) {
      end(unexpected(reply))
      return
    }
    const { results, limitsMs, resolve } = waiter
    results.push({ reply, failure: null, at: now() })
    waiter.onReply?.(results.length)
    if (results.length === limitsMs.length) {
      waiters.shift()
      resolve(results)
    }
    limitNext()
    if (reply.code === 421) end({ kind: 'closed', text: 'the server closed the channel (421)' })
  }

  /** Starts the limit of the next reply. */
  function limitNext(): void {
    const [waiter] = waiters
    replyLimit.set(waiter?.limitsMs[waiter.results.length] ?? null)
  }

  function onClosed(): void {
    end({ kind: 'closed', text: 'the server closed the connection' })
  }

  function onError(error: NodeJS.ErrnoException): void {
    if (failure !== null) return
    end(networkFailure(error))
    // Octets that could not be written no longer count in `writableLength`.
    if (error.syscall === 'write') wasFlushed = false
  }

  function end(reason: WireFailure = { kind: 'closed', text: 'the connection was closed' }): void {
    if (failure !== null) return
    failure = reason
    wasFlushed = socket.writableLength === 0
    replyLimit.stop()
    deadline.stop()
    socket.destroy()
    for (const { results, limitsMs, resolve } of waiters.splice(0))
      resolve([...results, ...failures(reason, limitsMs.length - results.length)])
  }

  function failures(reason: WireFailure, count: number): ReplyResult[] {
    return Array.from({ length: count }, () => ({ reply: null, failure: reason, at: now() }))
  }

  function expect<const L extends readonly number[]>(
    limitsMs: L,
    onReply?: (count: number) => void,
  ) {
    // A tuple with as many results as there are limits.
    type Replies = { [K in keyof L]: ReplyResult }
    if (failure !== null) return Promise.resolve(failures(failure, limitsMs.length) as Replies)
    return new Promise<ReplyResult[]>((resolve) => {
      if (waiters.push({ limitsMs, results: [], onReply, resolve }) === 1) limitNext()
    }) as Promise<Replies>
  }

  function restartLimit(limitMs: number): void {
    if (waiters.length > 0) replyLimit.set(limitMs)
  }

  function write(octets: string, onFlushed?: () => void): void {
    if (failure !== null) {
      wasFlushed = false
      return
    }
    if (onFlushed === undefined) socket.write(octets, 'latin1')
    else socket.write(octets, 'latin1', (error) => (error || failure ? undefined : onFlushed()))
  }

  function setDeadline(limitMs: number | null): void {
    if (failure === null) deadline.set(limitMs)
  }

  async function upgrade(options: UpgradeOptions): Promise<WireFailure | null> {
    if (failure !== null) return failure
    if (parser.hasPartial()) {
      end({ kind: 'protocol', text: 'the server sent data after its reply to STARTTLS' })
      return failure
    }
    detach()
    const secured = await startTls(socket, options)
    if ('kind' in secured) {
      end(secured)
      return secured
    }
    socket = secured
    parser = createReplyParser(onReply, knownReplies)
    tlsName = tlsText(secured)
    certificate = secured.getPeerX509Certificate() ?? null
    socket.on('data', (bytes: Buffer) => onOctets(bytes.toString('latin1')))
    attach()
    return failure
  }

  return {
    expect,
    restartLimit,
    write,
    isFlushed: () => (failure === null ? socket.writableLength === 0 : wasFlushed),
    setDeadline,
    upgrade,
    end,
    failure: () => failure,
    tls: () => tlsName,
    certificate: () => certificate,
  }
}

function unexpected(reply: ServerReply): WireFailure {
  const text = printable(`${reply.code} ${reply.lines[0] ?? ''}`, 200)
  if (reply.code === 421) return { kind: 'closed', text: `the server closed the channel: ${text}` }
  return { kind: 'protocol', text: `the server sent a reply without a command: ${text}` }
}
