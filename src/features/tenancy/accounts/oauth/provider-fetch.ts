/**
 * How openid-client requests the endpoints of providers: by our HTTP client, with bounds on time and
 * size, and without redirects. Operators choose the providers, so that their hosts may be in a private
 * network; http is for a provider on this machine.
 */
import type { CustomFetch } from 'openid-client'
import { SECOND_MS } from '../../../../base/clock.ts'
import { isLoopbackHost } from '../../../../config/values/listen-address.ts'
import { createHttpClient, type HttpClientOptions } from '../../../../outbound/http/client.ts'
import type { HttpMethod } from '../../../../outbound/http/exchange.ts'
import { isPrivateAddress, isPublicAddress } from '../../../../outbound/routing/addresses.ts'

type ProviderFetch = {
  fetch: CustomFetch
  /** Ends requests in flight, and closes the connections. */
  stop(): void
}

/** The provider sent no response, or too large a response. */
export class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable'
}

const TIMEOUT_MS = 10 * SECOND_MS
/** The most bytes of a response; key sets and lists of addresses have some thousand. */
const MAX_BODY_BYTES = 256 * 1024
const MAX_IDLE = 4
const NULL_BODY = new Set([204, 205, 304])

export function createProviderFetch({
  timeoutMs = TIMEOUT_MS,
  ...options
}: Pick<HttpClientOptions, 'resolver' | 'timeoutMs' | 'ca'>): ProviderFetch {
  const isAllowed = (address: string) => isPublicAddress(address) || isPrivateAddress(address)
  const client = createHttpClient({ ...options, isAllowed, allowsHttp: true, maxIdle: MAX_IDLE })
  const stopping = new AbortController()

  const fetch: CustomFetch = async (text, { body, headers, method, signal }) => {
    const url = new URL(text)
    const { host, protocol } = url
    if (protocol !== 'https:' && !isLocal(text)) throw new ProviderUnreachable(`${host}: no https`)
    const result = await client.request({
      url,
      method: method as HttpMethod,
      headers,
      timeoutMs,
      maxBodyBytes: MAX_BODY_BYTES,
      signal: AbortSignal.any([stopping.signal, ...(signal ? [signal] : [])]),
      ...(body === undefined || body === null ? {} : { body: textOf(body) }),
    })
    if (result.kind !== 'response') {
      throw new ProviderUnreachable(`${host}: ${result.kind}: ${result.error}`)
    }
    const { status } = result
    if (status < 200 || status > 599) throw new ProviderUnreachable(`${host}: status ${status}`)
    const content = NULL_BODY.has(status) ? null : new Uint8Array(result.body)
    const contentType = result.headers['content-type']
    const challenge = result.headers['www-authenticate']
    const kept = {
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(challenge === undefined ? {} : { 'www-authenticate': challenge }),
    }
    return new Response(content, { status, headers: kept })
  }

  return {
    fetch,
    stop: () => {
      stopping.abort()
      client.closeIdle()
    },
  }
}

/**
 * Whether a URL is http to this machine. To any other machine, http would be in clear text on a
 * network.
 */
export function isLocal(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))
}

function textOf(body: unknown): string {
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body)
  throw new TypeError('requests to providers have forms and no other bodies')
}
