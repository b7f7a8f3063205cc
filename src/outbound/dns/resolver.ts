/**
 * Cached DNS look-ups. They distinguish the records of a name, a name without such records, a name
 * that does not exist, and a failure. They query the servers of `dns.servers`, else the system's,
 * and never read the hosts file.
 *
 * Answers are cached for their TTL if Node gives it (A and AAAA), else for 5 minutes; negative
 * answers for 1 minute; failures for 10 seconds, so that a silent server is not queried for every
 * message. Concurrent equal queries are sent once. A denial (no such name, no such record, a null
 * MX) that the watch does not believe counts, and is cached, as a failure.
 */

import { Resolver as NodeResolver } from 'node:dns/promises'
import { DAY_MS, MINUTE_MS, type Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import { createLru } from '../../base/lru.ts'
import { MAX_TXT_LENGTH } from '../../formats/txt-record.ts'
import type { DnsAnswer, DnsQuestion, DnsWatch, MxRecord } from './answer.ts'

/**
 * `isFresh`: ignores the cache. `isUnjudged`: returns a denial as it is, for callers that draw no
 * conclusion from it.
 */
type LookupOptions = { isFresh?: boolean; isUnjudged?: boolean }

/** Looks up DNS records. The strings of one TXT record are joined. */
export type Resolver = {
  a(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  aaaa(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  mx(name: string, options?: LookupOptions): Promise<DnsAnswer<MxRecord>>
  txt(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  ns(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  /** `name`: a name under in-addr.arpa or ip6.arpa. */
  ptr(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  /** Ends the open look-ups: they resolve to failures. */
  stop(): void
}

type ResolverOptions = {
  /** `address` or `address:port`; empty = the system's. */
  servers: readonly string[]
  now: Now
  /** Timeout of one try at one server. */
  timeoutMs?: number
  tries?: number
  /**
   * How often a failed query is sent in all; default 1. `tries` applies to time-outs alone, not to
   * SERVFAIL or REFUSED.
   */
  rounds?: number
  maxCached?: number
  /** Judges denials (`watch.ts`); if absent, all are believed. */
  watch?: Pick<DnsWatch, 'judge' | 'suspect'> | undefined
}

/** The error that Node gives to the open queries of a cancelled resolver. */
const STOPPED = Object.assign(new Error('stopped'), { code: 'ECANCELLED' })

type Question<T> = DnsQuestion & { ask: () => Promise<{ records: T[]; ttlMs: number }> }

const UNKNOWN_TTL_MS = 5 * MINUTE_MS
const MAX_TTL_MS = DAY_MS
const NEGATIVE_TTL_MS = MINUTE_MS
const FAILURE_TTL_MS = 10_000
const TIMEOUT_MS = 3_000

export function createResolver(options: ResolverOptions): Resolver {
  const dns = new NodeResolver({
    timeout: options.timeoutMs ?? TIMEOUT_MS,
    tries: options.tries ?? 3,
  })
  if (options.servers.length > 0) dns.setServers(options.servers)
  let isStopped = false
  const lookUp = createLookUp(options, () => isStopped)
  return {
    a: (name, lookup = {}) =>
      lookUp({ type: 'A', name, ask: () => dns.resolve4(name, { ttl: true }).then(timed) }, lookup),
    aaaa: (name, lookup = {}) =>
      lookUp(
        { type: 'AAAA', name, ask: () => dns.resolve6(name, { ttl: true }).then(timed) },
        lookup,
      ),
    mx: (name, lookup = {}) =>
      lookUp(
        {
          type: 'MX',
          name,
          ask: async () => untimed((await dns.resolveMx(name)).map(toMxRecord)),
        },
        lookup,
      ),
    txt: (name, lookup = {}) =>
      lookUp(
        { type: 'TXT', name, ask: async () => untimed((await dns.resolveTxt(name)).map(toText)) },
        lookup,
      ),
    ns: (name, lookup = {}) =>
      lookUp(
        { type: 'NS', name, ask: async () => untimed((await dns.resolveNs(name)).map(bareName)) },
        lookup,
      ),
    ptr: (name, lookup = {}) =>
      lookUp(
        {
          type: 'PTR',
          name,
          ask: async () => untimed((await dns.resolvePtr(name)).map(bareName)),
        },
        lookup,
      ),
    stop() {
      isStopped = true
      dns.cancel()
    },
  }
}

function createLookUp(options: ResolverOptions, isStopped: () => boolean) {
  const { now, maxCached = 20_000, rounds = 1, timeoutMs = TIMEOUT_MS, watch } = options
  const cache = createLru<DnsAnswer<unknown>>(maxCached)
  const open = new Map<string, Promise<DnsAnswer<unknown>>>()

  const askOnce = async (question: Question<unknown>): Promise<DnsAnswer<unknown>> => {
    try {
      if (isStopped()) throw STOPPED
      const { records, ttlMs } = await question.ask()
      return toAnswer(records, now() + ttlMs, now())
    } catch (error) {
      return toFailure(error, now())
    }
  }

  const askWatched = async (question: Question<unknown>, isUnjudged: boolean) => {
    let askedAt = performance.now()
    const ask = () => {
      askedAt = performance.now()
      return question.ask()
    }
    const answer = await askOnce({ ...question, ask })
    // The first server was silent if the answer took as long as one try.
    if (performance.now() - askedAt >= timeoutMs || isSilence(answer)) watch?.suspect()
    return watch === undefined || isUnjudged ? answer : watch.judge(question, answer)
  }

  async function ask(
    question: Question<unknown>,
    isUnjudged: boolean,
  ): Promise<DnsAnswer<unknown>> {
    let answer = await askWatched(question, isUnjudged)
    for (let round = 1; round < rounds && answer.kind === 'failed'; round += 1) {
      answer = await askWatched(question, isUnjudged)
    }
    open.delete(keyOf(question))
    cache.set(keyOf(question), answer)
    return answer
  }

  return <T>(question: Question<T>, options: LookupOptions): Promise<DnsAnswer<T>> => {
    const { isFresh = false, isUnjudged = false } = options
    const key = keyOf(question)
    const known = isFresh ? undefined : cache.get(key)
    // A key contains the type of record, so the cached answer has the type of the question.
    if (known !== undefined && known.expiresAt > now())
      return Promise.resolve(known as DnsAnswer<T>)
    const asked = open.get(key) ?? ask(question, isUnjudged)
    open.set(key, asked)
    return asked as Promise<DnsAnswer<T>>
  }
}

function keyOf({ type, name }: DnsQuestion): string {
  return `${type} ${name}`
}

function isSilence(answer: DnsAnswer<unknown>): boolean {
  if (answer.kind !== 'failed') return false
  return answer.error === FAILURE_NAMES.ETIMEOUT || answer.error === FAILURE_NAMES.ECONNREFUSED
}

function toAnswer(records: unknown[], expiresAt: number, at: number): DnsAnswer<unknown> {
  if (records.length > 0) return { kind: 'found', records, expiresAt }
  return { kind: 'nodata', expiresAt: at + NEGATIVE_TTL_MS }
}

function toFailure(error: unknown, at: number): DnsAnswer<never> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : describeError(error)
  if (code === 'ENODATA') return { kind: 'nodata', expiresAt: at + NEGATIVE_TTL_MS }
  // A name that does not fit a query cannot exist either.
  const isMissing = code === 'ENOTFOUND' || code === 'EBADNAME'
  if (isMissing) return { kind: 'nxdomain', expiresAt: at + NEGATIVE_TTL_MS }
  return { kind: 'failed', error: FAILURE_NAMES[code] ?? code, expiresAt: at + FAILURE_TTL_MS }
}

const FAILURE_NAMES: Record<string, string> = {
  ESERVFAIL: 'SERVFAIL',
  EREFUSED: 'REFUSED',
  ETIMEOUT: 'time-out',
  ECONNREFUSED: 'no DNS server answers',
  EBADRESP: 'malformed answer',
  EFORMERR: 'FORMERR',
  ENOTIMP: 'NOTIMP',
  ECANCELLED: 'cancelled',
}

function timed(records: { address: string; ttl: number }[]) {
  const ttlMs = Math.min(MAX_TTL_MS, ...records.map((record) => record.ttl * 1000))
  return { records: records.map((record) => record.address), ttlMs }
}

function untimed<T>(records: T[]): { records: T[]; ttlMs: number } {
  return { records, ttlMs: UNKNOWN_TTL_MS }
}

function toMxRecord({ priority, exchange }: { priority: number; exchange: string }): MxRecord {
  return { preference: priority, host: bareName(exchange) }
}

function toText(strings: string[]): string {
  return strings.join('').slice(0, MAX_TXT_LENGTH)
}

function bareName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
