/** Clients for one purpose each, made of the client of `client.ts`: webhooks, and small public files. */
import { SECOND_MS } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { isLoopbackHost } from '../../config/values/listen-address.ts'
import { isLoopback, isPrivateAddress, isPublicAddress } from '../routing/addresses.ts'
import { createHttpClient, type HttpClient, type HttpClientOptions } from './client.ts'
import { bareHost } from './exchange.ts'

const TIMEOUT_MS = 10 * SECOND_MS
/** As many requests as a project may have in flight: all its endpoints may be on one server. */
const MAX_IDLE_WEBHOOK_CONNECTIONS = 300

type WebhookConfig = {
  webhooks: Config['webhooks']
  http: Pick<Config['http'], 'listen' | 'trustedProxies'>
  baseUrl: string
  delivery: Pick<Config['delivery'], 'mode'>
}

type Fetched =
  | { ok: true; status: number; body: Buffer }
  /** `isRefused`: the URL must not be requested; otherwise a later request may succeed. */
  | { ok: false; isRefused: boolean; error: string }

export type PublicFetch = (url: URL) => Promise<Fetched>

export type PublicFetchOptions = HttpClientOptions & {
  /** The time limit from the connection to the last octet. */
  timeoutMs?: number
  maxBodyBytes?: number
}

/**
 * The HTTP client of webhooks: http and https, ten seconds a hop. It reaches public addresses only,
 * unless `webhooks.allow_private_networks` is set. A sandbox that only its own machine reaches is on a
 * developer's machine, so its webhooks reach loopback, too. A sandbox behind a proxy also listens on
 * loopback, but strangers use it: its `base_url` or its `http.trusted_proxies` shows the proxy.
 */
export function createWebhookClient({
  config,
  ...options
}: HttpClientOptions & { config: WebhookConfig }): HttpClient {
  const isAllowed = createTargetCheck(config)
  const own = {
    allowsHttp: true,
    timeoutMs: TIMEOUT_MS,
    maxIdle: MAX_IDLE_WEBHOOK_CONNECTIONS,
    isAllowed,
  }
  return createHttpClient({ ...own, ...options })
}

function createTargetCheck({ webhooks, http, baseUrl, delivery }: WebhookConfig) {
  const isLocal = isLoopbackHost(http.listen.host) && isLoopbackHost(bareHost(new URL(baseUrl)))
  const allowsLoopback = delivery.mode === 'sandbox' && isLocal && http.trustedProxies.length === 0
  return (address: string): boolean => {
    if (isPublicAddress(address)) return true
    if (!isPrivateAddress(address)) return false
    return webhooks.allowPrivateNetworks || (allowsLoopback && isLoopback(address))
  }
}

/** Requests small public files by GET, without redirects. */
export function createPublicFetch({
  timeoutMs,
  maxBodyBytes,
  ...options
}: PublicFetchOptions): PublicFetch {
  const client = createHttpClient(options)
  const limits = {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
  }
  return async (url) => {
    const result = await client.request({ url, ...limits })
    if (result.kind === 'response') return { ok: true, status: result.status, body: result.body }
    return { ok: false, isRefused: result.kind === 'refused', error: result.error }
  }
}
