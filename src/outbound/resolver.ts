/**
 * DNS as this program needs it: look-ups with a cache that tell apart what a name has, that it has
 * none of that type, that it does not exist, and that nobody could say. Asks the servers of
 * `dns.servers` or the system's, never the hosts file.
 *
 * Answers live as long as their TTL where the resolver shows it (A and AAAA), else 5 minutes;
 * negative answers 1 minute; failures 10 seconds, so that a dead server is not asked for every
 * message. The same question asked twice at once is sent once.
 */
import { Resolver as NodeResolver } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import type { Now } from '../clock.ts'
import { describeError } from '../errors.ts'
import { createTurns, TurnRefused, type Turns } from './turns.ts'

/** `expiresAt`: epoch ms until which the answer may be used. */
export type DnsAnswer<T> =
  | { kind: 'found'; records: readonly T[]; expiresAt: number }
  | { kind: 'nodata'; expiresAt: number }
  | { kind: 'nxdomain'; expiresAt: number }
  /** Time-out, SERVFAIL, refused: `error` says which. */
  | { kind: 'failed'; error: string; expiresAt: number }

/** `host` in lower case without the final dot; '' is the root, which makes a null MX (RFC 7505). */
export type MxRecord = { preference: number; host: string }

/** `isFresh`: asks the server even when an answer is known. */
export type LookupOptions = { isFresh?: boolean }

/** The strings of one TXT record are joined. */
export type Resolver = {
  a(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  aaaa(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  mx(name: string, options?: LookupOptions): Promise<DnsAnswer<MxRecord>>
  txt(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  ns(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  /** `name` under in-addr.arpa or ip6.arpa. */
  ptr(name: string, options?: LookupOptions): Promise<DnsAnswer<string>>
  /** Open look-ups end as failed. */
  stop(): void
}

export type ResolverOptions = {
  /** `address` or `address:port`; empty = the system's. */
  servers: readonly string[]
  now: Now
  /** Of one try at one server. */
  timeoutMs?: number
  tries?: number
  /**
   * How often a question is asked that fails; once if absent. `tries` are for time-outs alone: a
   * server that says SERVFAIL or REFUSED is not asked again by them.
   */
  rounds?: number
  maxCached?: number
  /** Questions at the servers at once; the others wait their turn. All at once if absent. */
  maxOpen?: number
  /** So many may wait; who comes then is told `failed`, which is not remembered. */
  maxWaiting?: number
}

type Question<T> = { key: string; ask: () => Promise<{ records: T[]; ttlMs: number }> }

const UNSHOWN_TTL_MS = 5 * 60_000
const MAX_TTL_MS = 24 * 3_600_000
const NEGATIVE_TTL_MS = 60_000
const FAILURE_TTL_MS = 10_000

/** A TXT answer of 60 KB is legal and of no use: records longer than that are cut. */
const MAX_TXT_LENGTH = 16_384

export function createResolver(options: ResolverOptions): Resolver {
  const dns = new NodeResolver({ timeout: options.timeoutMs ?? 3000, tries: options.tries ?? 3 })
  if (options.servers.length > 0) dns.setServers(options.servers)
  const turns = createTurns({
    atOnce: options.maxOpen ?? Number.POSITIVE_INFINITY,
    waiting: options.maxWaiting ?? Number.POSITIVE_INFINITY,
  })
  const lookUp = createLookUp(options, turns)
  return {
    a: (name, lookup = {}) =>
      lookUp(
        { key: `A ${name}`, ask: () => dns.resolve4(name, { ttl: true }).then(timed) },
        lookup,
      ),
    aaaa: (name, lookup = {}) =>
      lookUp(
        { key: `AAAA ${name}`, ask: () => dns.resolve6(name, { ttl: true }).then(timed) },
        lookup,
      ),
    mx: (name, lookup = {}) =>
      lookUp(
        {
          key: `MX ${name}`,
          ask: async () => untimed((await dns.resolveMx(name)).map(toMxRecord)),
        },
        lookup,
      ),
    txt: (name, lookup = {}) =>
      lookUp(
        { key: `TXT ${name}`, ask: async () => untimed((await dns.resolveTxt(name)).map(toText)) },
        lookup,
      ),
    ns: (name, lookup = {}) =>
      lookUp(
        { key: `NS ${name}`, ask: async () => untimed((await dns.resolveNs(name)).map(bareName)) },
        lookup,
      ),
    ptr: (name, lookup = {}) =>
      lookUp(
        {
          key: `PTR ${name}`,
          ask: async () => untimed((await dns.resolvePtr(name)).map(bareName)),
        },
        lookup,
      ),
    stop() {
      turns.stop()
      dns.cancel()
    },
  }
}

function createLookUp(options: ResolverOptions, turns: Turns) {
  const { now, maxCached = 20_000, rounds = 1 } = options
  const cache = new LRUCache<string, DnsAnswer<unknown>>({ max: maxCached })
  const open = new Map<string, Promise<DnsAnswer<unknown>>>()

  const askOnce = (question: Question<unknown>) =>
    turns.take(question.ask).then(
      ({ records, ttlMs }) => toAnswer(records, now() + ttlMs, now()),
      (error: unknown) => toFailure(error, now()),
    )

  async function ask(question: Question<unknown>): Promise<DnsAnswer<unknown>> {
    let answer = await askOnce(question)
    for (let round = 1; round < rounds && answer.kind === 'failed'; round += 1) {
      answer = await askOnce(question)
    }
    open.delete(question.key)
    cache.set(question.key, answer)
    return answer
  }

  return <T>(question: Question<T>, { isFresh }: LookupOptions): Promise<DnsAnswer<T>> => {
    const known = isFresh === true ? undefined : cache.get(question.key)
    // A key names the type of record, so what is kept under it is of the question's own type.
    if (known !== undefined && known.expiresAt > now())
      return Promise.resolve(known as DnsAnswer<T>)
    const asked = open.get(question.key) ?? ask(question)
    open.set(question.key, asked)
    return asked as Promise<DnsAnswer<T>>
  }
}

function toAnswer(records: unknown[], expiresAt: number, at: number): DnsAnswer<unknown> {
  if (records.length > 0) return { kind: 'found', records, expiresAt }
  return { kind: 'nodata', expiresAt: at + NEGATIVE_TTL_MS }
}

function toFailure(error: unknown, at: number): DnsAnswer<never> {
  if (error instanceof TurnRefused) return { kind: 'failed', error: error.message, expiresAt: at }
  const code = error instanceof Error && 'code' in error ? String(error.code) : describeError(error)
  if (code === 'ENODATA') return { kind: 'nodata', expiresAt: at + NEGATIVE_TTL_MS }
  // A name that cannot be put into a question cannot exist either.
  const isMissing = code === 'ENOTFOUND' || code === 'EBADNAME'
  if (isMissing) return { kind: 'nxdomain', expiresAt: at + NEGATIVE_TTL_MS }
  return { kind: 'failed', error: failureNames[code] ?? code, expiresAt: at + FAILURE_TTL_MS }
}

const failureNames: Record<string, string> = {
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
  return { records, ttlMs: UNSHOWN_TTL_MS }
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
