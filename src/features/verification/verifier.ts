/**
 * The sources of verification: lists of domains, and DNS resolvers of its own. Any number of
 * requests delays only verification: deliveries use another resolver, whose cache verification does
 * not fill.
 */
import type { Now } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { DnsWatch } from '../../outbound/dns/answer.ts'
import { createResolver, type Resolver } from '../../outbound/dns/resolver.ts'
import { createSemaphore, type Semaphore } from '../../outbound/semaphore.ts'
import { createDomainLists, type DomainLists } from './domain-lists/domain-lists.ts'

export type Verifier = {
  /** For requests, which wait for the result. */
  dns: Resolver
  /** For jobs, which limit their concurrent queries themselves. */
  listDns: Resolver
  /** Limits the concurrent queries of all jobs together. */
  listLimiter: Pick<Semaphore, 'take'>
  lists: DomainLists
  /** Fails the open queries. */
  stop(): void
}

type VerifierOptions = {
  dnsServers: readonly string[]
  dataDir: string
  now: Now
  log: Log
  /** Decides whether to believe NXDOMAIN; absent: always. */
  watch?: DnsWatch
  /** Timeout of each of the two rounds. */
  timeoutMs?: number
}

const TIMEOUT_MS = 2_000
const ROUNDS = 2
const MAX_CACHED = 5_000
/** Open queries. An unanswered query lasts two rounds, so 64 such queries a second fit. */
const MAX_OPEN = 256
const MAX_WAITING = 1_000
const LIST_DOMAINS_AT_ONCE = 16

/** Neither reads files nor queries DNS before it is used. */
export function createVerifier(options: VerifierOptions): Verifier {
  const { dnsServers, dataDir, now, log, watch, timeoutMs = TIMEOUT_MS } = options
  const settings = { servers: dnsServers, now, timeoutMs, tries: 1, rounds: ROUNDS, watch }
  const cached = { ...settings, maxCached: MAX_CACHED }
  const dns = createResolver({ ...cached, maxOpen: MAX_OPEN, maxWaiting: MAX_WAITING })
  const listDns = createResolver(cached)
  return {
    dns,
    listDns,
    // Waiting is unlimited, because each job waits with few domains at a time.
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
