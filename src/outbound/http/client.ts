/**
 * An HTTP client for URLs of unknown origin. It resolves the name once, refuses the request unless
 * every address of the name is allowed, and connects to one of these addresses: no DNS answer,
 * redirect or proxy leads into a private network. Every redirect is checked in the same way.
 *
 * Connections are kept alive for each address and name; a kept one is used only for an address that
 * passes the check now. A failure of a server or of the network is a value, not an error.
 *
 * It stands on `node:http` and not on undici, which was tried (8.13.1, against `test/outbound/http`): undici closes
 * a connection at an interim response 100, takes status lines, empty lines, chunk extensions and leading zeros of
 * chunks without a limit, and reads the socket itself, so that `hop-limits.ts` cannot count what arrives.
 */
import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP } from 'node:net'
import { createLru } from '../../base/lru.ts'
import type { DnsAnswer } from '../dns/answer.ts'
import type { Resolver } from '../dns/resolver.ts'
import { isPublicAddress } from '../routing/addresses.ts'
import {
  type Agents,
  bareHost,
  exchangeHttp,
  type HttpHop,
  type HttpMethod,
  type RemoteResponse,
} from './exchange.ts'
import { failureOf, type HttpFailure, isNotConnected, isStaleConnection } from './failure.ts'
import { startHopEnd } from './hop-limits.ts'

export type HttpRequest = {
  url: URL
  method?: HttpMethod
  /** Headers that frame the request, such as `host` and `content-length`, are set by the client. */
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
  /** Timeout of each hop, from the query for its name to the last octet. */
  timeoutMs?: number
  maxBodyBytes?: number
  /** Whether a body over the limit is cut off; if not, the result of the request is `too large`. */
  cutsBody?: boolean
  /** How many redirects are followed. By default 0: a redirect is then a response like any other. */
  maxRedirects?: number
  /** Whether the server recognizes a repetition, so that a stale connection may be replaced. */
  isRepeatable?: boolean
  signal?: AbortSignal
}

export type HttpResult = RemoteResponse | HttpFailure

export type HttpClient = {
  request(input: HttpRequest): Promise<HttpResult>
  /**
   * False for a URL that a request would refuse without a look-up, such as one with a private
   * address.
   */
  mayRequest(url: URL): boolean
  /** Closes idle connections; later requests open new ones. */
  closeIdle(): void
}

export type HttpClientOptions = {
  resolver: Pick<Resolver, 'a' | 'aaaa'>
  /**
   * Whether an address may be connected to. Answers are cached, so the answer for an address must never
   * change. Default: public addresses only.
   */
  isAllowed?: (address: string) => boolean
  /** Whether http is allowed, beside https. */
  allowsHttp?: boolean
  /** The `timeoutMs` of requests that set none. */
  timeoutMs?: number
  /** The trusted authorities in PEM; default: the well-known certificate authorities. */
  ca?: string
  /** How long an idle connection is kept. */
  idleMs?: number
  /** Idle connections that are kept for each address and name. */
  maxIdle?: number
}

const TIMEOUT_MS = 5_000
const IDLE_MS = 10_000
const MAX_BODY_BYTES = 64 * 1024
const MAX_IDLE_CONNECTIONS = 64
/** The number of addresses for which the answer of `isAllowed` is kept. */
const MAX_CHECKED_ADDRESSES = 1_000
/** The number of addresses of a name that are tried while none can be connected to. */
const MAX_ADDRESSES = 3
const IDEMPOTENT_METHODS = new Set<HttpMethod>(['GET', 'HEAD', 'PUT', 'DELETE'])
/** Names that mean this machine (RFC 6761, section 6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/
const LOOPBACK = ['127.0.0.1', '::1']
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])
/** The headers that a redirect to another origin keeps. */
const HEADERS_FOR_OTHER_ORIGINS = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-type',
  'user-agent',
])

/** Keeps connections apart by name, as the agent of https does. */
class NamedAgent extends HttpAgent {
  override getName(options: ClientRequestArgs & { servername?: string } = {}): string {
    return `${super.getName(options)}:${options.servername ?? ''}`
  }
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { resolver, isAllowed = isPublicAddress, allowsHttp = false, ca } = options
  const { timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS, maxIdle = MAX_IDLE_CONNECTIONS } = options
  const keep = { keepAlive: true, timeout: idleMs, maxFreeSockets: maxIdle }
  /** The answers of `isAllowed` by address; an answer never changes. */
  const allowed = createLru<boolean>(MAX_CHECKED_ADDRESSES)
  const agents: Agents = {
    http: new NamedAgent(keep),
    https: new HttpsAgent({ ...keep, ...(ca === undefined ? {} : { ca }) }),
  }

  function isKnownAllowed(address: string): boolean {
    const known = allowed.get(address)
    if (known !== undefined) return known
    const answer = isAllowed(address)
    allowed.set(address, answer)
    return answer
  }

  async function follow(input: HttpRequest): Promise<HttpResult> {
    const { maxRedirects = 0, isRepeatable, body = null, signal, ...rest } = input
    let hop: HttpHop = {
      ...{ method: 'GET', headers: {}, timeoutMs, maxBodyBytes: MAX_BODY_BYTES, cutsBody: false },
      ...rest,
      ...{ body, signal },
    }
    for (let redirects = 0; ; redirects += 1) {
      const result = await send(hop, isRepeatable ?? IDEMPOTENT_METHODS.has(hop.method))
      if (result.kind !== 'response' || redirects >= maxRedirects) return result
      const next = redirectOf(hop, result)
      if (next === null) return result
      hop = next
    }
  }

  async function send(hop: HttpHop, isRepeatable: boolean): Promise<HttpResult> {
    const problem = problemOf(hop.url)
    if (problem !== undefined) return { kind: 'refused', error: problem }
    const end = startHopEnd(hop.timeoutMs, hop.signal)
    try {
      const found = await end.before(findAddresses(hop.url))
      if (!Array.isArray(found)) return found
      if (found.length === 0)
        return { kind: 'unreachable', error: `${hop.url.hostname} has no address` }
      const act = (address: string) => exchangeHttp(hop, { agents, address, ends: end })
      return await tryEach(found, act, isRepeatable)
    } catch (error) {
      return failureOf(error)
    } finally {
      end.stop()
    }
  }

  /** Goes on to the next address while nothing can have been sent. @throws as `exchangeHttp` */
  async function tryEach(
    addresses: readonly string[],
    act: (address: string) => Promise<RemoteResponse>,
    isRepeatable: boolean,
  ): Promise<RemoteResponse> {
    let failure: unknown
    for (const address of addresses) {
      try {
        return await act(address)
      } catch (error) {
        if (isRepeatable && isStaleConnection(error)) return act(address)
        if (!isNotConnected(error)) throw error
        failure = error
      }
    }
    throw failure
  }

  function problemOf({ protocol, username, password, port }: URL): string | undefined {
    if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:'))
      return allowsHttp ? 'only http and https URLs are allowed' : 'only https URLs are allowed'
    if (username !== '' || password !== '') return 'URLs with a user or password are not allowed'
    if (port === '0') return 'the port 0 is not allowed'
    return undefined
  }

  async function findAddresses(url: URL): Promise<string[] | HttpFailure> {
    const host = bareHost(url)
    const addresses = isIP(host) !== 0 ? [host] : await resolve(host)
    const forbidden = addresses.find((address) => !isKnownAllowed(address))
    if (forbidden === undefined) return addresses.slice(0, MAX_ADDRESSES)
    const error =
      forbidden === host
        ? `the address ${host} is not allowed`
        : `${host} has the address ${forbidden}, which is not allowed`
    return { kind: 'refused', error }
  }

  async function resolve(name: string): Promise<string[]> {
    if (LOCALHOST.test(name)) return LOOPBACK
    const answers = await Promise.all([resolver.a(name), resolver.aaaa(name)])
    return answers.flatMap(recordsOf)
  }

  /** Unlike `agent.destroy`, leaves the connections of open requests alone. */
  function closeIdle(): void {
    const free = [agents.http.freeSockets, agents.https.freeSockets]
    const idle = free.flatMap((sockets) => Object.values(sockets).flatMap((list) => list ?? []))
    for (const socket of idle) socket.destroy()
  }

  function mayRequest(url: URL): boolean {
    const host = bareHost(url)
    if (problemOf(url) !== undefined) return false
    if (LOCALHOST.test(host)) return LOOPBACK.every(isAllowed)
    return isIP(host) === 0 || isAllowed(host)
  }

  return { request: follow, mayRequest, closeIdle }
}

function recordsOf(answer: DnsAnswer<string>): readonly string[] {
  return answer.kind === 'found' ? answer.records : []
}

/**
 * Returns the hop after a redirect (RFC 9110 section 15.4); null if the response is not a redirect that can
 * be followed. After 301, 302 and 303 the next request is a GET without body; after 307 and 308 the request
 * is repeated. Another origin gets only headers that describe the request: every other header may be a
 * credential. The headers of a webhook go with its body, and to its origin only.
 */
function redirectOf(hop: HttpHop, { status, headers }: RemoteResponse): HttpHop | null {
  if (!REDIRECT_STATUSES.has(status) || headers.location === undefined) return null
  const url = URL.parse(headers.location, hop.url.href)
  if (url === null) return null
  const isGet = hop.method === 'GET' || hop.method === 'HEAD'
  const keepsMethod = isGet || status === 307 || status === 308
  const own = keepsMethod ? {} : ({ method: 'GET', body: null } as const)
  const isSameOrigin = url.origin === hop.url.origin
  const kept = Object.entries(hop.headers).filter(([name]) => {
    const plainName = name.toLowerCase()
    if (!keepsMethod && isOfBody(plainName)) return false
    return isSameOrigin || HEADERS_FOR_OTHER_ORIGINS.has(plainName)
  })
  return { ...hop, ...own, url, headers: Object.fromEntries(kept) }
}

/**
 * Whether a header belongs to the body, as the id, time and signature of a webhook do. A redirect that drops
 * the body drops these headers too.
 */
function isOfBody(name: string): boolean {
  return name.startsWith('content-') || name.startsWith('webhook-')
}
