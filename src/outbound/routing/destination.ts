/** A destination: the hosts that get the mail of a domain now, or why there are none. */
import type { Now } from '../../base/clock.ts'
import type { Config, ListenAddress } from '../../config/config.ts'
import { classifyLocally, type LocalCause } from '../../formats/replies/classify-reply.ts'
import type { Reply, ReplyVerdict } from '../../formats/replies/reply.ts'
import type { Resolver } from '../dns/resolver.ts'
import type { SmtpTarget } from './targets.ts'

/** The DNS look-up of a destination, shown as the first step of an attempt. */
export type DestinationLookup = { at: number; durationMs: number; hosts: readonly string[] }

export type OpenDestination = {
  kind: 'open'
  mode: Config['delivery']['mode']
  site: string
  /** Destinations with the same key may share connections. */
  key: string
  port: number
  targets: readonly SmtpTarget[]
  lookup: DestinationLookup | null
  expiresAt: number
}

/** No server can be tried: `result` is the outcome of the attempt. */
export type ClosedDestination = {
  kind: 'closed'
  /** The site of the smarthost in relay mode; else null. */
  site: string | null
  result: 'bounced' | 'failed' | 'deferred'
  verdict: ReplyVerdict
  reply: Reply | null
  error: string
  lookup: DestinationLookup | null
  expiresAt: number
}

export type Destination = OpenDestination | ClosedDestination

export type DestinationDeps = {
  config: Pick<Config, 'delivery'>
  resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'>
  now: Now
  random: () => number
  /** The port of the sandbox's sink; null in other modes. */
  sandboxPort: number | null
  /** The listeners of this server for incoming mail. */
  inboundListeners: () => readonly Pick<ListenAddress, 'host' | 'port'>[]
  /**
   * Domains (A-labels) whose mail this server receives: for them, a destination that leads to this
   * server is not a loop.
   */
  receivedDomains: ReadonlySet<string>
}

const RESULTS: Partial<Record<LocalCause, ClosedDestination['result']>> = {
  'unknown-host': 'bounced',
  'null-mx': 'bounced',
  loop: 'failed',
}

/** Makes a closed destination. `error` is for the operator; `expiresAt`: epoch ms. */
export function closedDestination(
  cause: LocalCause,
  error: string,
  expiresAt: number,
): ClosedDestination {
  const result = RESULTS[cause] ?? 'deferred'
  const verdict = classifyLocally(cause)
  const nothing = { site: null, reply: null, lookup: null }
  return { kind: 'closed', result, verdict, error, expiresAt, ...nothing }
}
