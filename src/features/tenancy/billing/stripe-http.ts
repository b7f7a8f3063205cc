/**
 * How the client of Stripe makes its requests: by our HTTP client, with bounds on time and size. The
 * operator chooses the server, so that it may be in a private network. A request may have had its
 * effect when its connection is lost, so only a GET is sent again.
 */
import type { Stripe } from 'stripe'
import { createHttpClient, type HttpClientOptions } from '../../../outbound/http/client.ts'
import type { HttpMethod } from '../../../outbound/http/exchange.ts'

type StripeHttp = {
  client: Pick<ReturnType<typeof Stripe.createNodeHttpClient>, 'getClientName' | 'makeRequest'>
  /** Ends requests in flight, and closes the connections. */
  stop(): void
}

/** A page of a hundred subscriptions with all of their items. */
const MAX_BODY_BYTES = 8 * 1024 * 1024
const MAX_IDLE = 8

/** `timeoutMs`: of a request, from the query for the name to the last octet. */
export function createStripeHttp(
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
    // By an error without a code: the package repeats a request after those that it knows.
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
