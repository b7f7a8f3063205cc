/**
 * The probes that the checks of the server may make on the network. Nothing follows a redirect, nothing uses a
 * cache, and each step ends after its limit, whatever the other side does.
 */
import { isIP } from 'node:net'
import type { Now } from '../../base/clock.ts'
import type { DnsAnswer, MxRecord } from '../dns/answer.ts'
import type { Resolver } from '../dns/resolver.ts'
import { createHttpClient, type HttpRequest, type HttpResult } from '../http/client.ts'
import { probeSmtp, type SmtpFindings, type SmtpProbe } from './probe-smtp.ts'
import { probeTls, type TlsFindings, type TlsProbe } from './probe-tls.ts'

export type ProbeDns = {
  a(name: string): Promise<DnsAnswer<string>>
  aaaa(name: string): Promise<DnsAnswer<string>>
  mx(name: string): Promise<DnsAnswer<MxRecord>>
  txt(name: string): Promise<DnsAnswer<string>>
  ptr(name: string): Promise<DnsAnswer<string>>
  /** Looks up an A record; a denial is no sign against the DNS servers. */
  listing(name: string): Promise<DnsAnswer<string>>
}

/** `fault`: why the host has no address. `isUnknown`: DNS gave no answer. */
export type HostAddresses =
  | { addresses: readonly [string, ...string[]]; fault: null }
  | { addresses: readonly []; fault: string; isUnknown: boolean }

export type Probes = {
  dns: ProbeDns
  /** The addresses of a host of the configuration; an address is returned as it is. */
  addressesOf(host: string): Promise<HostAddresses>
  smtp(probe: Omit<SmtpProbe, 'limitMs'>): Promise<SmtpFindings>
  tls(probe: Omit<TlsProbe, 'limitMs' | 'ca'>): Promise<TlsFindings>
  request(input: Pick<HttpRequest, 'url' | 'method' | 'headers' | 'body'>): Promise<HttpResult>
}

type ProbesDeps = {
  resolver: Pick<Resolver, 'a' | 'aaaa' | 'mx' | 'txt' | 'ptr'>
  now: Now
  limitMs?: number
  /** The trusted authorities in PEM; default: the well-known certificate authorities. */
  ca?: string | undefined
}

const LIMIT_MS = 5_000
const MAX_BODY_BYTES = 16 * 1024
/** Names that mean this machine (RFC 6761 section 6.3). */
const LOCALHOST = /(^|\.)localhost$/

export function createProbes({ resolver, now, limitMs = LIMIT_MS, ca }: ProbesDeps): Probes {
  const dns = boundDns(resolver, { now, limitMs })
  // The URLs come from the configuration, which may name private addresses.
  const client = createHttpClient({
    ...{ resolver: dns, isAllowed: () => true, allowsHttp: true, timeoutMs: limitMs, maxIdle: 1 },
    ...(ca === undefined ? {} : { ca }),
  })
  return {
    dns,
    addressesOf: (host) => findAddresses(dns, host),
    smtp: (probe) => probeSmtp(now, { ...probe, limitMs }),
    tls: (probe) => probeTls({ ...probe, limitMs, ca }),
    request: async (input) => {
      const bounds = { maxBodyBytes: MAX_BODY_BYTES, cutsBody: true, isRepeatable: false }
      const result = await client.request({ ...input, ...bounds })
      client.closeIdle()
      return result
    },
  }
}

async function findAddresses(dns: ProbeDns, host: string): Promise<HostAddresses> {
  if (isIP(host) !== 0) return { addresses: [host], fault: null }
  if (LOCALHOST.test(host)) return { addresses: ['127.0.0.1'], fault: null }
  const answers = await Promise.all([dns.a(host), dns.aaaa(host)])
  const [first, ...others] = answers.flatMap((one) => (one.kind === 'found' ? one.records : []))
  if (first !== undefined) return { addresses: [first, ...others], fault: null }
  const failure = answers.find((one) => one.kind === 'failed')
  const fault =
    failure === undefined ? `${host} has no A or AAAA record` : `${host}: ${failure.error}`
  return { addresses: [], fault, isUnknown: failure !== undefined }
}

function boundDns(
  resolver: ProbesDeps['resolver'],
  { now, limitMs }: { now: Now; limitMs: number },
): ProbeDns {
  const fresh = { isFresh: true }
  const bound = <T>(answer: Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> => {
    const error = `no answer within ${limitMs / 1000} s`
    return withinLimit(answer, limitMs, () => ({ kind: 'failed', error, expiresAt: now() }))
  }
  return {
    a: (name) => bound(resolver.a(name, fresh)),
    aaaa: (name) => bound(resolver.aaaa(name, fresh)),
    mx: (name) => bound(resolver.mx(name, fresh)),
    txt: (name) => bound(resolver.txt(name, fresh)),
    ptr: (name) => bound(resolver.ptr(name, fresh)),
    listing: (name) => bound(resolver.a(name, { isFresh: true, isUnjudged: true })),
  }
}

/** The result of `work`, or that of `late` when the limit comes first. */
export async function withinLimit<T>(work: Promise<T>, limitMs: number, late: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const timer = setTimeout(() => resolve(late()), limitMs)
  work.then(resolve, reject)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
