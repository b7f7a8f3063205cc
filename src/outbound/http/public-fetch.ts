/**
 * GET over HTTPS for addresses that others had a hand in. The name is resolved once, every address
 * it has must be public, and the connection goes to one of those very addresses: no DNS answer, no
 * redirect and no proxy leads to a network of ours. Redirects are not followed.
 */
import { type RequestOptions, request } from 'node:https'
import { isIP } from 'node:net'
import { describeError } from '../../errors.ts'
import type { DnsAnswer } from '../dns/answer.ts'
import type { Resolver } from '../dns/resolver.ts'
import { isPublicAddress } from '../routing/addresses.ts'

export type Fetched =
  | { ok: true; status: number; body: Buffer }
  /** `isRefused`: we did not go there, and never will; else it may work another time. */
  | { ok: false; isRefused: boolean; error: string }

export type PublicFetch = (url: URL) => Promise<Fetched>

export type PublicFetchOptions = {
  resolver: Pick<Resolver, 'a' | 'aaaa'>
  /** Whether an address may be connected to; only public ones unless a test says otherwise. */
  isAllowed?: (address: string) => boolean
  /** Instead of the well-known certificate authorities, PEM. */
  ca?: string
  /** From the connection to the last octet. */
  timeoutMs?: number
  maxBodyBytes?: number
}

type Target = { address: string } | { refused: string } | { failed: string }

export function createPublicFetch(options: PublicFetchOptions): PublicFetch {
  return async (url) => {
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
      return refused('only plain https addresses are asked')
    }
    const target = await findTarget(url.hostname, options)
    if ('refused' in target) return refused(target.refused)
    if ('failed' in target) return failed(target.failed)
    return get(url, { ...options, address: target.address }).catch((error: unknown) =>
      failed(describeError(error)),
    )
  }
}

async function findTarget(
  hostname: string,
  { resolver, isAllowed = isPublicAddress }: PublicFetchOptions,
): Promise<Target> {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(literal) !== 0) {
    return isAllowed(literal) ? { address: literal } : { refused: `${literal} is not public` }
  }
  const answers = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)])
  const addresses = answers.flatMap(recordsOf)
  const forbidden = addresses.find((address) => !isAllowed(address))
  if (forbidden !== undefined) return { refused: `${hostname} has the address ${forbidden}` }
  const [address] = addresses
  return address === undefined ? { failed: `${hostname} has no address` } : { address }
}

function recordsOf(answer: DnsAnswer<string>): readonly string[] {
  return answer.kind === 'found' ? answer.records : []
}

function get(
  url: URL,
  input: PublicFetchOptions & { address: string },
): Promise<Extract<Fetched, { ok: true }>> {
  const { address, ca, timeoutMs = 5_000, maxBodyBytes = 64 * 1024 } = input
  const options: RequestOptions = {
    host: address,
    // The certificate must be the name's, wherever the connection goes.
    servername: isIP(url.hostname) === 0 ? url.hostname : '',
    port: url.port === '' ? 443 : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, accept: '*/*' },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    ...(ca === undefined ? {} : { ca }),
  }
  return new Promise((resolve, reject) => {
    const asked = request(options, (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        chunks.push(chunk)
        if (size > maxBodyBytes) response.destroy(new Error('the answer is too large'))
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ ok: true, status: response.statusCode ?? 0, body: Buffer.concat(chunks) }),
      )
    })
    asked.on('error', reject)
    // Nothing else tells of a connection that was given up before it had an answer.
    asked.on('close', () => reject(new Error('the connection ended before the answer did')))
    asked.end()
  })
}

function refused(error: string): Fetched {
  return { ok: false, isRefused: true, error }
}

function failed(error: string): Fetched {
  return { ok: false, isRefused: false, error }
}
