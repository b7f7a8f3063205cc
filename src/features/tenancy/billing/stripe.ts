/**
 * The client of Stripe. The package is loaded with the first request, so that a server without
 * billing needs no memory for it. The client has no retries of its own: its caller knows whether a
 * request may be repeated.
 */
import type { Stripe } from 'stripe'
import { HOUR_MS, type Now, SECOND_MS } from '../../../base/clock.ts'
import type { BillingConfig } from '../../../config/config.ts'
import { productVersion } from '../../../config/version.ts'
import { createHttpClient, type HttpClientOptions } from '../../../outbound/http/client.ts'
import type { HttpMethod } from '../../../outbound/http/exchange.ts'
import { StripeFault, toFault } from './stripe-fault.ts'

type StripeHttp = {
  client: Pick<ReturnType<typeof Stripe.createNodeHttpClient>, 'getClientName' | 'makeRequest'>
  /** Ends requests in flight, and closes the connections. */
  stop(): void
}

/**
 * The most bytes of a response: more than a page of a hundred subscriptions with all of their
 * items.
 */
const MAX_BODY_BYTES = 8 * 1024 * 1024
const MAX_IDLE = 8

/**
 * The version of the API for which the requests and their tests are written: that of stripe 23.1.0.
 */
export const STRIPE_API_VERSION = '2026-10-28.endive'

const REQUEST_MS = 10 * SECOND_MS
/**
 * The time limit of a call, which may make several requests. A longer call counts as unanswered.
 */
const CALL_MS = 25 * SECOND_MS
const METER_AGE_MS = HOUR_MS

export type StripeClient = {
  /** Whether the secret key is one of live mode; undefined if its form does not say. */
  isLive: boolean | undefined
  webhookSecret: string
  /** The id of the price that projects subscribe to. */
  price: string
  /** The event name of the meter. */
  meterEvent: string
  /**
   * Runs requests. When `signal` aborts, requests are given up, but Stripe may have carried them
   * out.
   * @throws StripeFault, an AppError EXTERNAL_SERVICE_ERROR
   */
  call<T>(act: (stripe: Stripe) => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Returns the meter of `billing.stripe_meter_event`, read once an hour; with `isFresh` it is read
   * now. `signal`: as for `call`.
   * @throws StripeFault
   */
  meter(options?: { isFresh?: boolean; signal?: AbortSignal }): Promise<Meter>
  /** Ends the connections, now or after `afterMs`. Requests that still run then fail. */
  close(afterMs?: number): void
}

/**
 * A meter that adds up values. `customerKey` and `valueKey` are the names of the fields of its
 * events.
 */
export type Meter = { id: string; customerKey: string; valueKey: string }

type Options = Pick<HttpClientOptions, 'resolver'> & { now: Now; timeoutMs?: number }

export function createStripe(
  billing: BillingConfig,
  { now, resolver, timeoutMs = REQUEST_MS }: Options,
): StripeClient {
  const address = addressOf(billing.stripeApiBase)
  const http = createStripeHttp({ resolver, timeoutMs })
  const closing = new AbortController()
  let loading: Promise<Stripe> | undefined
  let known: { meter: Meter; until: number } | undefined

  async function load(): Promise<Stripe> {
    const { Stripe: Client } = await import('stripe')
    return new Client(billing.stripeSecretKey, {
      apiVersion: STRIPE_API_VERSION,
      ...address,
      httpClient: http.client as ReturnType<typeof Client.createNodeHttpClient>,
      timeout: timeoutMs,
      maxNetworkRetries: 0,
      telemetry: false,
      appInfo: { name: 'Pillarbox', version: productVersion() },
    })
  }

  async function call<T>(
    act: (stripe: Stripe) => Promise<T>,
    signal: AbortSignal = closing.signal,
  ): Promise<T> {
    if (closing.signal.aborted) throw unanswered('the server is stopping')
    loading ??= load()
    const stripe = await loading
    const limit = AbortSignal.any([closing.signal, signal, AbortSignal.timeout(CALL_MS)])
    try {
      return await Promise.race([act(stripe), rejectsWith(limit)])
    } catch (error) {
      throw toFault(error)
    }
  }

  function close(): void {
    closing.abort()
    http.stop()
  }

  const meter: StripeClient['meter'] = async ({ isFresh = false, signal } = {}) => {
    if (known !== undefined && !isFresh && now() < known.until) return known.meter
    known = undefined
    const found = await call((stripe) => findMeter(stripe, billing.stripeMeterEvent), signal)
    known = { meter: found, until: now() + METER_AGE_MS }
    return found
  }

  return {
    isLive: modeOf(billing.stripeSecretKey),
    webhookSecret: billing.stripeWebhookSecret,
    price: billing.stripePrice,
    meterEvent: billing.stripeMeterEvent,
    call,
    meter,
    close(afterMs = 0) {
      if (afterMs > 0) {
        setTimeout(close, afterMs).unref()
        return
      }
      close()
    },
  }
}

type Address = { host?: string; port?: number; protocol?: 'http' | 'https' }

function addressOf(base: string | null): Address {
  if (base === null) return {}
  const { protocol, hostname, port } = new URL(base)
  const isClear = protocol === 'http:'
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isClear ? 80 : 443) : Number(port),
    protocol: isClear ? 'http' : 'https',
  }
}

function modeOf(key: string): boolean | undefined {
  const [, mode] = /^(?:sk|rk)_(live|test)_/.exec(key) ?? []
  return mode === undefined ? undefined : mode === 'live'
}

/** @throws StripeFault `misconfigured` when no active meter adds up values under this name */
async function findMeter(stripe: Stripe, eventName: string): Promise<Meter> {
  for await (const meter of stripe.billing.meters.list({ status: 'active', limit: 100 })) {
    if (meter.event_name !== eventName) continue
    if (meter.default_aggregation.formula !== 'sum') {
      throw misconfigured(`the meter ${meter.id} does not add up the values of its events`)
    }
    return {
      id: meter.id,
      customerKey: meter.customer_mapping.event_payload_key,
      valueKey: meter.value_settings.event_payload_key,
    }
  }
  throw misconfigured(`Stripe has no active meter with the event name "${eventName}"`)
}

function misconfigured(text: string): StripeFault {
  return new StripeFault('misconfigured', new Error(text))
}

function unanswered(text: string): StripeFault {
  return new StripeFault('unanswered', new Error(text))
}

function rejectsWith(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  const fail = () => reject(unanswered('the request was given up'))
  if (signal.aborted) fail()
  else signal.addEventListener('abort', fail, { once: true })
  return promise
}

/**
 * Makes the requests of the package by our HTTP client, with bounds on time and size. The operator
 * chooses the server, so it may be in a private network. Only a GET is sent again after a lost
 * connection, because other requests may have been carried out. `timeoutMs`: the time limit of a
 * request, from the query for the name to the last octet.
 */
function createStripeHttp(
  options: Pick<HttpClientOptions, 'resolver' | 'ca'> & { timeoutMs: number },
): StripeHttp {
  const own = { isAllowed: () => true, allowsHttp: true, maxIdle: MAX_IDLE }
  const http = createHttpClient({ ...options, ...own })
  const stopping = new AbortController()
  type MakeRequest = StripeHttp['client']['makeRequest']

  const makeRequest = async (...args: Parameters<MakeRequest>) => {
    const [host, port, path, method, headers, body, protocol] = args
    const name = host.includes(':') ? `[${host}]` : host
    const result = await http.request({
      url: new URL(`${protocol}://${name}:${port}${path}`),
      method: method as HttpMethod,
      headers: Object.fromEntries(
        Object.entries(headers).map(([field, value]) => [field, String(value)]),
      ),
      maxBodyBytes: MAX_BODY_BYTES,
      signal: stopping.signal,
      ...(method === 'GET' ? {} : { body: body ?? '' }),
    })
    // Throws without a code, because the package repeats a request after an error with a code that
    // it knows.
    if (result.kind !== 'response') throw new Error(`${result.kind}: ${result.error}`)
    return {
      getStatusCode: () => result.status,
      getHeaders: () => result.headers,
      getRawResponse: () => result,
      toStream: () => {
        throw new TypeError('no request to Stripe has a stream as its answer')
      },
      toJSON: async () => JSON.parse(result.body.toString('utf8')),
    }
  }

  return {
    client: {
      getClientName: () => 'pillarbox',
      makeRequest: makeRequest as unknown as MakeRequest,
    },
    stop() {
      stopping.abort()
      http.closeIdle()
    },
  }
}
