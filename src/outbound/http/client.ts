/**
 * An HTTPS client for URLs of unknown origin. It resolves the name once, refuses the request
 * unless every address of the name is public, and connects to one of these addresses: no DNS
 * answer, redirect or proxy leads into a private network. Every redirect is checked in the same way.
 *
 * Connections are kept alive for each address and name. A failure of a server or of the network is
 * a value, not an error.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { isIP } from 'node:net'
import { describeError } from '../../errors.ts'
import type { DnsAnswer } from '../dns/answer.ts'
import type { Resolver } from '../dns/resolver.ts'
import { isPublicAddress } from '../routing/addresses.ts'

type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type HttpRequest = {
  url: URL
  method?: HttpMethod
  /** `host` and `content-length` are set by the client. */
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
  /** Timeout of each hop, from the connection to the last octet. */
  timeoutMs?: number
  maxBodyBytes?: number
  /** 0, the default: a redirect is a response like any other. */
  maxRedirects?: number
}

type HttpResult =
  | { kind: 'response'; url: URL; status: number; headers: IncomingHttpHeaders; body: Buffer }
  /** The client must not connect to the URL, or to that of a redirect. A retry changes nothing. */
  | { kind: 'refused'; error: string }
  /** No address, no connection, no trusted certificate, or the connection was lost. */
  | { kind: 'unreachable'; error: string }
  | { kind: 'timeout'; error: string }
  | { kind: 'too large'; error: string }

export type HttpClient = {
  request(input: HttpRequest): Promise<HttpResult>
  /** Closes idle connections; later requests open new ones. */
  closeIdle(): void
}

export type HttpClientOptions = {
  resolver: Pick<Resolver, 'a' | 'aaaa'>
  /** Whether an address may be connected to; default: public addresses only. */
  isAllowed?: (address: string) => boolean
  /** PEM; default: the well-known certificate authorities. */
  ca?: string
  /** How long an idle connection is kept. */
  idleMs?: number
}

type Hop = Required<Omit<HttpRequest, 'body' | 'maxRedirects'>> & { body: string | Buffer | null }
type Failure = Exclude<HttpResult, { kind: 'response' }>

const TIMEOUT_MS = 5_000
const IDLE_MS = 10_000
const MAX_BODY_BYTES = 64 * 1024
/** For each address and name. */
const MAX_IDLE_CONNECTIONS = 64
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Sent to the origin of the first URL only. */
const PRIVATE_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization'])
const IDEMPOTENT = new Set<HttpMethod>(['GET', 'HEAD', 'PUT', 'DELETE'])

class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { resolver, isAllowed = isPublicAddress, ca, idleMs = IDLE_MS } = options
  const agent = newAgent()

  function newAgent(): Agent {
    const keep = { keepAlive: true, timeout: idleMs, maxFreeSockets: MAX_IDLE_CONNECTIONS }
    return new Agent({ ...keep, ...(ca === undefined ? {} : { ca }) })
  }

  async function follow(input: HttpRequest): Promise<HttpResult> {
    const { maxRedirects = 0, body = null, ...rest } = input
    let hop: Hop = {
      method: 'GET',
      headers: {},
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_BODY_BYTES,
      ...rest,
      body,
    }
    for (let redirects = 0; ; redirects += 1) {
      const result = await send(hop)
      if (result.kind !== 'response' || redirects >= maxRedirects) return result
      const next = redirectOf(hop, result)
      if (next === null) return result
      hop = next
    }
  }

  async function send(hop: Hop): Promise<HttpResult> {
    const { url } = hop
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '')
      return { kind: 'refused', error: 'only https URLs without user and password are allowed' }
    const found = await findAddress(url.hostname)
    if (typeof found !== 'string') return found
    try {
      return await exchange(hop, found)
    } catch (error) {
      if (!isStaleConnection(error) || !IDEMPOTENT.has(hop.method)) return failureOf(error)
      return exchange(hop, found).catch(failureOf)
    }
  }

  async function findAddress(hostname: string): Promise<string | Failure> {
    const literal = hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(literal) !== 0) {
      if (isAllowed(literal)) return literal
      return { kind: 'refused', error: `${literal} is not public` }
    }
    const answers = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)])
    const addresses = answers.flatMap(recordsOf)
    const forbidden = addresses.find((address) => !isAllowed(address))
    if (forbidden !== undefined)
      return {
        kind: 'refused',
        error: `${hostname} has the address ${forbidden}, which is not allowed`,
      }
    const [address] = addresses
    return address ?? { kind: 'unreachable', error: `${hostname} has no address` }
  }

  function exchange(hop: Hop, address: string): Promise<HttpResult> {
    const { url, method, headers, body, timeoutMs, maxBodyBytes } = hop
    const requestOptions: RequestOptions = {
      agent,
      method,
      host: address,
      // The certificate must be issued to the name, not to the address.
      servername: isIP(url.hostname) === 0 ? url.hostname : '',
      port: url.port === '' ? 443 : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { accept: '*/*', ...headers, ...lengthOf(body), host: url.host },
      signal: AbortSignal.timeout(timeoutMs),
    }
    return new Promise((resolve, reject) => {
      let hasResponse = false
      const sent = request(requestOptions, (response) => {
        hasResponse = true
        read(response, maxBodyBytes).then(
          (bytes) =>
            resolve({
              kind: 'response',
              url,
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: bytes,
            }),
          reject,
        )
      })
      sent.on('error', (error) => reject(Object.assign(error, { isReused: sent.reusedSocket })))
      // A protocol upgrade closes the connection without any other event.
      sent.on('upgrade', (_response, socket) => socket.destroy())
      sent.on('close', () => {
        if (!hasResponse) reject(new Error('the connection ended before the response did'))
      })
      sent.end(body ?? undefined)
    })
  }

  /** Unlike `agent.destroy`, leaves the connections of open requests alone. */
  function closeIdle(): void {
    const idle = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])
    for (const socket of idle) socket.destroy()
  }

  return { request: follow, closeIdle }
}

function recordsOf(answer: DnsAnswer<string>): readonly string[] {
  return answer.kind === 'found' ? answer.records : []
}

function lengthOf(body: string | Buffer | null): Record<string, string> {
  return body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

function read(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > maxBytes) response.destroy(new TooLarge('the response is too large'))
    })
    response.on('error', reject)
    response.on('end', () => resolve(Buffer.concat(chunks)))
  })
}

/** Returns the next hop; null if the response is not a redirect that can be followed. */
function redirectOf(
  hop: Hop,
  { status, headers }: Extract<HttpResult, { kind: 'response' }>,
): Hop | null {
  if (!REDIRECTS.has(status) || headers.location === undefined) return null
  const url = URL.parse(headers.location, hop.url.href)
  if (url === null) return null
  const isGet = hop.method === 'GET' || hop.method === 'HEAD'
  const keepsMethod = isGet || status === 307 || status === 308
  const own = keepsMethod ? {} : ({ method: 'GET', body: null } as const)
  const isSameOrigin = url.origin === hop.url.origin
  const kept = Object.entries(hop.headers).filter(([name]) => {
    const isOfBody = /^content-/i.test(name)
    return (isSameOrigin || !PRIVATE_HEADERS.has(name.toLowerCase())) && (keepsMethod || !isOfBody)
  })
  return { ...hop, ...own, url, headers: Object.fromEntries(kept) }
}

/** Whether a kept-alive connection was closed by the server before it read the request. */
function isStaleConnection(error: unknown): boolean {
  if (!(error instanceof Error) || !('isReused' in error) || error.isReused !== true) return false
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

function failureOf(error: unknown): Failure {
  if (error instanceof TooLarge) return { kind: 'too large', error: error.message }
  const text = describeError(error)
  const isTimeout = error instanceof Error && /^(TimeoutError|AbortError)$/.test(error.name)
  return isTimeout ? { kind: 'timeout', error: text } : { kind: 'unreachable', error: text }
}
