/**
 * One HTTP request to one address that was checked, and its response. The connection is closed when the
 * time is over or the body is too long; bodies are never decompressed.
 */
import {
  type Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { type Agent as HttpsAgent, type RequestOptions, request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { describeError } from '../../errors.ts'

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type HttpResponse = {
  kind: 'response'
  url: URL
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  /** The body was longer, and `cutsBody` was set. */
  isCut: boolean
}

export type HttpFailure =
  /** The client must not connect to the URL, or to that of a redirect. A retry changes nothing. */
  | { kind: 'refused'; error: string }
  /** No address, no connection, no trusted certificate, or the connection was lost. */
  | { kind: 'unreachable'; error: string }
  | { kind: 'timeout'; error: string }
  | { kind: 'too large'; error: string }
  /** The caller's signal. */
  | { kind: 'aborted'; error: string }

export type Hop = {
  url: URL
  method: HttpMethod
  headers: Readonly<Record<string, string>>
  body: string | Buffer | null
  timeoutMs: number
  maxBodyBytes: number
  cutsBody: boolean
  signal: AbortSignal | undefined
}

export type Agents = { http: HttpAgent; https: HttpsAgent }

type Target = { agents: Agents; address: string; timeoutMs: number }

/** The client sets these itself; they would change how the request is framed. */
const UNSENT = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The end of an exchange that this side decided. */
class Ended extends Error {
  override readonly name = 'Ended'
  readonly kind: 'timeout' | 'too large' | 'aborted'

  constructor(kind: Ended['kind'], text: string) {
    super(text)
    this.kind = kind
  }
}

/** @throws any error; `failureOf` and `isStaleConnection` read it */
export function exchange(hop: Hop, target: Target): Promise<HttpResponse> {
  const { url, maxBodyBytes, cutsBody, signal } = hop
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    let hasResponse = false
    let ended: Ended | undefined
    const end = (kind: Ended['kind'], text: string) => {
      ended ??= new Ended(kind, text)
      sent.destroy(ended)
    }
    const abort = () => end('aborted', 'the request was aborted')
    const timer = setTimeout(end, target.timeoutMs, 'timeout', 'the time for the request is over')
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const fail = (error: unknown) => {
      settle()
      reject(ended ?? error)
    }
    const sent = send(optionsOf(hop, target), (response) => {
      hasResponse = true
      read(response, { maxBodyBytes, cutsBody }, fail, (bytes, isCut) => {
        settle()
        const { statusCode: status = 0, headers } = response
        resolve({ kind: 'response', url, status, headers, body: bytes, isCut })
      })
    })
    sent.on('error', (error) => fail(Object.assign(error, { isReused: sent.reusedSocket })))
    // A protocol upgrade closes the connection without any other event.
    sent.on('upgrade', (_response, socket) => socket.destroy())
    sent.on('close', () => {
      if (!hasResponse) fail(new Error('the connection ended before the response did'))
    })
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    sent.end(bodyOf(hop) ?? undefined)
  })
}

function optionsOf(hop: Hop, { agents, address }: Target): RequestOptions {
  const { url, method, headers, body } = hop
  const isTls = url.protocol === 'https:'
  return {
    agent: isTls ? agents.https : agents.http,
    method,
    host: address,
    // The certificate must be issued to the name, not to the address.
    servername: isIP(bareHost(url)) === 0 ? url.hostname : '',
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { accept: '*/*', ...sendable(headers), ...lengthOf(body), host: url.host },
  }
}

/** The host of a URL; an IPv6 address without its brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Node sends headers in the encoding of a text that follows, which would encode their octets twice. */
function bodyOf({ headers, body }: Hop): string | Buffer | null {
  if (typeof body !== 'string') return body
  const isAscii = Object.values(headers).every((value) => /^[\x00-\x7f]*$/.test(value))
  return isAscii ? body : Buffer.from(body)
}

function sendable(headers: Hop['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !UNSENT.has(name.toLowerCase())),
  )
}

function lengthOf(body: string | Buffer | null): Record<string, string> {
  return body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

type BodyLimits = Pick<Hop, 'maxBodyBytes' | 'cutsBody'>

/** Calls `done` before it closes the connection of a body that it cuts off. */
function read(
  response: IncomingMessage,
  { maxBodyBytes, cutsBody }: BodyLimits,
  fail: (error: unknown) => void,
  done: (bytes: Buffer, isCut: boolean) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  response.on('data', (chunk: Buffer) => {
    if (size > maxBodyBytes) return
    size += chunk.length
    chunks.push(chunk)
    if (size <= maxBodyBytes) return
    if (cutsBody) done(Buffer.concat(chunks, maxBodyBytes), true)
    else fail(new Ended('too large', 'the response is too large'))
    response.destroy()
  })
  response.on('error', fail)
  response.on('end', () => done(Buffer.concat(chunks), false))
}

/** Whether a kept-alive connection was closed by the server before it read the request. */
export function isStaleConnection(error: unknown): boolean {
  if (!(error instanceof Error) || !('isReused' in error) || error.isReused !== true) return false
  return codeOf(error) === 'ECONNRESET' || codeOf(error) === 'EPIPE'
}

const NO_CONNECTION = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])

/** Whether the address cannot be connected to, so that nothing was sent. */
export function isNotConnected(error: unknown): boolean {
  return NO_CONNECTION.has(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function failureOf(error: unknown): HttpFailure {
  const text = describeError(error)
  if (error instanceof Ended) return { kind: error.kind, error: text }
  return { kind: 'unreachable', error: text }
}
