/**
 * One connection to an SMTP server: bytes out, replies in, in order. Whoever writes a command first
 * says with `expect` that a reply is due. A reply that nobody expects means that the two sides no
 * longer agree (or that the peer lies ahead of time): the connection ends, so that no reply is
 * ever taken for the answer to a later command. A 421 ends it too. Nothing here throws or rejects:
 * a wire that has failed answers everything with its failure.
 */
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import { describeError } from '../../errors.ts'
import { createReplyParser, printable, type RawReply, type ReplyParser } from './reply-parser.ts'

export type WireFailure = { kind: 'network' | 'closed' | 'timeout' | 'protocol'; text: string }

export type Answer = { reply: RawReply; failure: null } | { reply: null; failure: WireFailure }

export type Wire = {
  /** The next reply that is not yet spoken for; the limit runs once those before it are in. */
  expect(limitMs: number): Promise<Answer>
  /** The limit of the reply that is waited for now starts again, as this one. */
  restartLimit(limitMs: number): void
  /** `onFlushed` runs when the bytes have left this process, never after a failure. */
  write(data: string | Uint8Array, onFlushed?: () => void): void
  /** Everything until the next call, or `null`, as a whole. */
  setDeadline(limitMs: number | null): void
  failure(): WireFailure | null
  /** Starts TLS on the connection; any certificate will do. Null when it is up. */
  upgrade(options: UpgradeOptions): Promise<WireFailure | null>
  /** Protocol and cipher; null in clear. */
  tls(): string | null
  end(reason?: WireFailure): void
}

export type UpgradeOptions = {
  servername: string
  limitMs: number
  secureContext: SecureContext | undefined
}

export type WireOptions = {
  address: string
  port: number
  localAddress: string | undefined
  limitMs: number
}

type Waiter = { limitMs: number; resolve: (answer: Answer) => void }

/** Connects to an address, never to a name (TypeError). */
export function connectWire(
  options: WireOptions,
): Promise<{ wire: Wire; failure: null } | { wire: null; failure: WireFailure }> {
  const { address, port, localAddress, limitMs } = options
  if (isIP(address) === 0) throw new TypeError('A socket is opened to an address, not to a name.')
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, ...(localAddress ? { localAddress } : {}) })
    const fail = (failure: WireFailure) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ wire: null, failure })
    }
    const timer = setTimeout(() => fail(timedOut('connecting')), limitMs)
    const onError = (error: Error) => fail(networkFailure(error))
    socket.once('error', onError)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.removeListener('error', onError)
      socket.setNoDelay(true)
      resolve({ wire: createWire(socket), failure: null })
    })
  })
}

function createWire(plain: Socket): Wire {
  let socket: Socket = plain
  let parser: ReplyParser = createReplyParser(onReply)
  let failure: WireFailure | null = null
  let tlsName: string | null = null
  let timer: NodeJS.Timeout | undefined
  let deadline: NodeJS.Timeout | undefined
  const waiters: Waiter[] = []
  attach()

  function attach(): void {
    socket.on('data', onData)
    socket.on('end', onClosed)
    socket.on('close', onClosed)
    socket.on('error', onError)
  }

  function detach(): void {
    socket.removeListener('data', onData)
    socket.removeListener('end', onClosed)
    socket.removeListener('close', onClosed)
  }

  function onData(chunk: Buffer): void {
    if (failure !== null) return
    const error = parser.push(chunk)
    if (error !== null) end({ kind: 'protocol', text: `the server sent ${error}` })
  }

  function onReply(reply: RawReply): void {
    if (failure !== null) return
    const waiter = waiters.shift()
    if (waiter === undefined) {
      end(unexpected(reply))
      return
    }
    armTimer()
    waiter.resolve({ reply, failure: null })
    if (reply.code === 421) end({ kind: 'closed', text: 'the server closed the channel (421)' })
  }

  function onClosed(): void {
    end({ kind: 'closed', text: 'the server closed the connection' })
  }

  function onError(error: Error): void {
    end(networkFailure(error))
  }

  function end(reason: WireFailure = { kind: 'closed', text: 'the connection was closed' }): void {
    if (failure !== null) return
    failure = reason
    clearTimeout(timer)
    clearTimeout(deadline)
    socket.destroy()
    for (const waiter of waiters.splice(0)) waiter.resolve({ reply: null, failure: reason })
  }

  function armTimer(): void {
    clearTimeout(timer)
    const [waiter] = waiters
    if (waiter === undefined) return
    timer = setTimeout(() => end(timedOut('waiting for a reply')), waiter.limitMs)
  }

  function expect(limitMs: number): Promise<Answer> {
    if (failure !== null) return Promise.resolve({ reply: null, failure })
    return new Promise((resolve) => {
      if (waiters.push({ limitMs, resolve }) === 1) armTimer()
    })
  }

  function restartLimit(limitMs: number): void {
    const [waiter] = waiters
    if (waiter === undefined) return
    waiter.limitMs = limitMs
    armTimer()
  }

  function write(data: string | Uint8Array, onFlushed?: () => void): void {
    if (failure !== null) return
    if (onFlushed === undefined) socket.write(data)
    else socket.write(data, (error) => (error || failure !== null ? undefined : onFlushed()))
  }

  function setDeadline(limitMs: number | null): void {
    clearTimeout(deadline)
    if (limitMs === null || failure !== null) return
    deadline = setTimeout(() => end(timedOut('the session as a whole')), limitMs)
  }

  async function upgrade(options: UpgradeOptions): Promise<WireFailure | null> {
    if (failure !== null) return failure
    if (parser.hasPartial() || socket.readableLength > 0) {
      end({ kind: 'protocol', text: 'the server sent data after its answer to STARTTLS' })
      return failure
    }
    detach()
    const secured = await startTls(socket, options)
    if ('kind' in secured) {
      end(secured)
      return secured
    }
    socket = secured
    parser = createReplyParser(onReply)
    tlsName = `${secured.getProtocol() ?? 'TLS'} ${secured.getCipher().standardName}`
    attach()
    return failure
  }

  return {
    expect,
    restartLimit,
    write,
    setDeadline,
    upgrade,
    end,
    failure: () => failure,
    tls: () => tlsName,
  }
}

function startTls(plain: Socket, options: UpgradeOptions): Promise<TLSSocket | WireFailure> {
  const { servername, secureContext, limitMs } = options
  return new Promise((resolve) => {
    const secured = connectTls({
      socket: plain,
      rejectUnauthorized: false,
      ...(isHostName(servername) ? { servername } : {}),
      ...(secureContext ? { secureContext } : {}),
    })
    const settle = (result: TLSSocket | WireFailure) => {
      clearTimeout(timer)
      secured.removeListener('close', onClose)
      secured.removeListener('error', onError)
      if ('kind' in result) secured.on('error', () => undefined).destroy()
      resolve(result)
    }
    const onClose = () => settle({ kind: 'closed', text: 'the server closed during the handshake' })
    const onError = (error: Error) => settle(networkFailure(error))
    const timer = setTimeout(() => settle(timedOut('the TLS handshake')), limitMs)
    secured.once('close', onClose)
    secured.once('error', onError)
    secured.once('secureConnect', () => settle(secured))
  })
}

/** What SNI can carry; the name came out of DNS. */
function isHostName(name: string): boolean {
  return isIP(name) === 0 && /^[a-z0-9._-]{1,253}$/i.test(name)
}

function unexpected(reply: RawReply): WireFailure {
  const text = printable(`${reply.code} ${reply.lines[0] ?? ''}`, 200)
  if (reply.code === 421) return { kind: 'closed', text: `the server closed the channel: ${text}` }
  return { kind: 'protocol', text: `the server sent a reply that nothing had asked for: ${text}` }
}

function timedOut(what: string): WireFailure {
  return { kind: 'timeout', text: `timed out: ${what}` }
}

/** OpenSSL's own texts are full of its file names; its codes say the same. */
function networkFailure(error: NodeJS.ErrnoException): WireFailure {
  const text = error.code?.startsWith('ERR_SSL') ? error.code : describeError(error)
  return { kind: 'network', text: printable(text, 300) }
}
