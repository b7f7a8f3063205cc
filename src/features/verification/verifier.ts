/**
 * What verification asks: lists of domains, and DNS of its own. Whoever floods it with questions
 * waits for his own answers; deliveries ask elsewhere, and their cache is not washed out.
 */
import type { Now } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { createResolver, type Resolver } from '../../outbound/dns/resolver.ts'
import type { DnsWatch } from '../../outbound/dns/watch.ts'
import { createSemaphore, type Semaphore } from '../../outbound/semaphore.ts'
import { createDomainLists, type DomainLists } from './domain-lists/domain-lists.ts'

export type Verifier = {
  /** For somebody who waits for the answer. */
  dns: Resolver
  /** For jobs, which take their time and mind how much they ask at once. */
  listDns: Resolver
  /** Of the look-ups of all jobs together. */
  listLimiter: Pick<Semaphore, 'take'>
  lists: DomainLists
  /** Open look-ups end as failed. */
  stop(): void
}

export type VerifierOptions = {
  dnsServers: readonly string[]
  dataDir: string
  now: Now
  log: Log
  /** Whether denials are believed; all are if absent. */
  watch?: DnsWatch
  /** Of each of the two rounds. */
  timeoutMs?: number
}

const TIMEOUT_MS = 2_000
const ROUNDS = 2
const MAX_CACHED = 5_000
/** A question that nobody answers keeps its place for both rounds: 64 of them a second are bearable. */
const MAX_OPEN = 256
const MAX_WAITING = 1_000
const LIST_DOMAINS_AT_ONCE = 16

/** Reads and asks nothing before it is used. */
export function createVerifier(options: VerifierOptions): Verifier {
  const { dnsServers, dataDir, now, log, watch, timeoutMs = TIMEOUT_MS } = options
  const settings = { servers: dnsServers, now, timeoutMs, tries: 1, rounds: ROUNDS, watch }
  const kept = { ...settings, maxCached: MAX_CACHED }
  const dns = createResolver({ ...kept, maxOpen: MAX_OPEN, maxWaiting: MAX_WAITING })
  const listDns = createResolver(kept)
  return {
    dns,
    listDns,
    // Jobs wait without end: each asks for few turns at a time.
    listLimiter: createSemaphore({
      atOnce: LIST_DOMAINS_AT_ONCE,
      waiting: Number.POSITIVE_INFINITY,
    }),
    lists: createDomainLists({ dataDir, now, log }),
    stop() {
      dns.stop()
      listDns.stop()
    },
  }
}
