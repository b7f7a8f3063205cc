/**
 * One HTTP request to one address that was checked, and its response. The connection is closed when the
 * hop ends, the body is too long, or the server floods; bodies are never decompressed.
 */
import {
  type Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { type Agent as HttpsAgent, type RequestOptions, request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { HopEnded } from './failure.ts'
import { type HopEnd, limitPeer } from './hop-limits.ts'

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type RemoteResponse = {
  kind: 'response'
  url: URL
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  /** Whether the body exceeded the limit and was cut off (`cutsBody`). */
  isCut: boolean
}

export type HttpHop = {
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

type HttpTarget = { agents: Agents; address: string; ends: Pick<HopEnd, 'watch'> }

/** The client sets these itself; they would change how the request is framed. */
const HEADERS_OF_CLIENT = new Set([
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

type BodyLimits = {
  maxBodyBytes: number
  /** Whether a body over the limit is cut off; if not, it is an error. */
  cutsBody: boolean
}

/** @throws any error; `failureOf` and `isStaleConnection` read it */
export function exchangeHttp(hop: HttpHop, target: HttpTarget): Promise<RemoteResponse> {
  const { url, maxBodyBytes, cutsBody } = hop
  const { ends } = target
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    let hasResponse = false
    let ended: Error | undefined
    const end = (reason: Error) => {
      ended ??= reason
      sent.destroy(ended)
    }
    const settle = () => {
      limits.stop()
      unwatch()
    }
    const fail = (error: unknown) => {
      settle()
      reject(ended ?? error)
    }
    const sent = send(optionsOf(hop, target), (response) => {
      // The parser still reads the rest of the piece that exceeded a limit.
      if (ended !== undefined) return fail(ended)
      // 101: the server switches to a protocol that nobody asked for.
      if (response.statusCode === 101) return void sent.destroy()
      hasResponse = true
      limits.onResponse()
      readBody(response, { maxBodyBytes, cutsBody }, fail, (bytes, isCut) => {
        settle()
        const { statusCode: status = 0, headers } = response
        resolve({ kind: 'response', url, status, headers, body: bytes, isCut })
      })
    })
    const limits = limitPeer(sent, { maxBodyBytes }, end)
    sent.on('error', (error) => fail(Object.assign(error, { isReused: sent.reusedSocket })))
    // A protocol upgrade closes the connection without any other event.
    sent.on('upgrade', (_response, socket) => socket.destroy())
    sent.on('close', () => {
      if (!hasResponse) fail(new Error('the connection ended before the response did'))
    })
    const unwatch = ends.watch(end)
    sent.end(sentBodyOf(hop) ?? undefined)
  })
}

function optionsOf(hop: HttpHop, { agents, address }: HttpTarget): RequestOptions {
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
    headers: sentHeadersOf({ accept: '*/*', ...headers }, body, url.host),
  }
}

/**
 * Returns the headers of a request with a body as a list, which Node sends unchanged: an object
 * costs more, because Node stores each header in case it changes. A request without a body needs
 * the object, because Node adds the length at its end.
 */
function sentHeadersOf(
  headers: HttpHop['headers'],
  body: HttpHop['body'],
  host: string,
): string[] | Record<string, string> {
  // As in Node, a header that occurs twice keeps the place of its first value and gets the last value.
  const sent = new Map<string, [name: string, value: string]>()
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase()
    if (!HEADERS_OF_CLIENT.has(key)) sent.set(key, [name, value])
  }
  if (body !== null) sent.set('content-length', ['content-length', String(Buffer.byteLength(body))])
  sent.set('host', ['host', host])
  return body === null ? Object.fromEntries(sent.values()) : [...sent.values()].flat()
}

/** The host of a URL; an IPv6 address without its brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/**
 * Node sends the headers in the encoding of a body that is a text, which would encode their octets
 * twice.
 */
function sentBodyOf({ headers, body }: HttpHop): string | Buffer | null {
  if (typeof body !== 'string') return body
  const isAscii = Object.values(headers).every((value) => /^[\x00-\x7f]*$/.test(value))
  return isAscii ? body : Buffer.from(body)
}

/**
 * Reads the body of a response up to a limit. Its octets are copied, because a short piece would otherwise
 * hold the 64 KB of the network's buffer that it arrived in. Calls `done` before it closes the connection
 * of a body that it cuts off.
 */
function readBody(
  response: IncomingMessage,
  { maxBodyBytes, cutsBody }: BodyLimits,
  fail: (error: unknown) => void,
  done: (bytes: Buffer, isCut: boolean) => void,
): void {
  let bytes = Buffer.alloc(0)
  let size = 0
  response.on('data', (chunk: Buffer) => {
    if (size > maxBodyBytes) return
    const needed = Math.min(size + chunk.length, maxBodyBytes)
    if (needed > bytes.length) {
      const longer = Buffer.alloc(Math.min(Math.max(needed, 2 * bytes.length), maxBodyBytes))
      bytes.copy(longer, 0, 0, size)
      bytes = longer
    }
    chunk.copy(bytes, size)
    size += chunk.length
    if (size <= maxBodyBytes) return
    if (cutsBody) done(bytes, true)
    else fail(new HopEnded('too large', 'the response is too large'))
    response.destroy()
  })
  response.on('error', fail)
  response.on('end', () => done(bytes.subarray(0, size), false))
}
