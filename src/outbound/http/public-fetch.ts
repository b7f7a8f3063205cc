/** GET by the HTTP client of `client.ts`, without redirects, for small responses. */
import { createHttpClient, type HttpClientOptions } from './client.ts'

type Fetched =
  | { ok: true; status: number; body: Buffer }
  /** `isRefused`: the URL must not be requested; otherwise a later request may succeed. */
  | { ok: false; isRefused: boolean; error: string }

export type PublicFetch = (url: URL) => Promise<Fetched>

export type PublicFetchOptions = HttpClientOptions & {
  /** From the connection to the last octet. */
  timeoutMs?: number
  maxBodyBytes?: number
}

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
