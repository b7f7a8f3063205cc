/**
 * The sources of verification: lists of domains, and DNS resolvers of its own. Any number of
 * requests delays only verification: deliveries use another resolver, whose cache verification does
 * not fill. Projects take turns, since name servers that do not answer hold a look-up for seconds.
 */
import type { Now } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import type { DnsWatch } from '../../../outbound/dns/answer.ts'
import { createResolver, type Resolver } from '../../../outbound/dns/resolver.ts'
import { createTurns, type Turns } from '../../../turns/turns.ts'
import { createDomainLists, type DomainLists } from './domain-lists.ts'

export type Verifier = {
  /** The resolver for requests, which wait for the result. */
  dns: Resolver
  turns: Pick<Turns, 'take'>
  /** The resolver for jobs. */
  listDns: Resolver
  listTurns: Pick<Turns, 'take'>
  lists: DomainLists
  /** Fails the open queries, and those that wait. */
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
/**
 * The number of look-ups for requests at a time. An unanswered look-up lasts two rounds, so 8 such
 * look-ups of a project fit a second.
 */
const DOMAINS_AT_ONCE = 128
const DOMAINS_OF_PROJECT = 32
const WAITING_OF_PROJECT = 100
const WAITING = 1_000
const LIST_DOMAINS_AT_ONCE = 16
const RETRY_AFTER_SECONDS = 2

/** Neither reads files nor queries DNS before it is used. */
export function createVerifier(options: VerifierOptions): Verifier {
  const { dnsServers, dataDir, now, log, watch, timeoutMs = TIMEOUT_MS } = options
  const settings = { servers: dnsServers, now, timeoutMs, tries: 1, rounds: ROUNDS, watch }
  const cached = { ...settings, maxCached: MAX_CACHED }
  const dns = createResolver(cached)
  const listDns = createResolver(cached)
  const waiting = { waitingPerProject: WAITING_OF_PROJECT, waiting: WAITING }
  const turned = { ...waiting, to: 'to be looked up', retryAfterSeconds: RETRY_AFTER_SECONDS }
  const turns = createTurns({
    ...turned,
    atOnce: DOMAINS_AT_ONCE,
    atOncePerProject: DOMAINS_OF_PROJECT,
  })
  const listTurns = createTurns({ ...turned, atOnce: LIST_DOMAINS_AT_ONCE })
  return {
    dns,
    turns,
    listDns,
    listTurns,
    lists: createDomainLists({ dataDir, now, log }),
    stop() {
      for (const each of [turns, listTurns]) each.stop(shutdown())
      for (const each of [dns, listDns]) each.stop()
    },
  }
}

function shutdown(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', 'The server is shutting down.')
}
