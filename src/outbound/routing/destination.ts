/** A route: where the mail of a domain goes now, or why it goes nowhere. */
import type { Now } from '../../clock.ts'
import type { Config, ListenAddress } from '../../config/config.ts'
import { classifyLocally, type LocalCause } from '../../mail/replies/classify-reply.ts'
import type { Reply, Verdict } from '../../mail/replies/reply.ts'
import type { Resolver } from '../dns/resolver.ts'
import type { Target } from './targets.ts'

/** What was asked to get here: shown as the first step of an attempt. */
export type Lookup = { at: number; durationMs: number; hosts: readonly string[] }

export type OpenDestination = {
  kind: 'open'
  mode: Config['delivery']['mode']
  site: string
  /** Routes with the same key may share connections. */
  key: string
  port: number
  targets: readonly Target[]
  lookup: Lookup | null
  expiresAt: number
}

/** No attempt is made: `result` says what becomes of the message. */
export type ClosedDestination = {
  kind: 'closed'
  /** What cannot be reached, where all mail goes one way; else null. */
  site: string | null
  result: 'bounced' | 'failed' | 'deferred'
  verdict: Verdict
  reply: Reply | null
  error: string
  lookup: Lookup | null
  expiresAt: number
}

export type Destination = OpenDestination | ClosedDestination

export type DestinationDeps = {
  config: Pick<Config, 'delivery'>
  resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'>
  now: Now
  random: () => number
  /** Where the sandbox's sink listens; null outside of sandbox mode. */
  sandboxPort: number | null
  /** Our own listeners for mail from outside. */
  inboundListeners: () => readonly Pick<ListenAddress, 'host' | 'port'>[]
  /** Whether we take mail for a domain (A-labels); then a route to ourselves is no loop. */
  receivesFor: (domain: string) => boolean
}

const results: Partial<Record<LocalCause, ClosedDestination['result']>> = {
  'unknown-host': 'bounced',
  'null-mx': 'bounced',
  loop: 'failed',
}

/** A route that ends without a connection; `error` is for the operator, `expiresAt` epoch ms. */
export function closedDestination(
  cause: LocalCause,
  error: string,
  expiresAt: number,
): ClosedDestination {
  const result = results[cause] ?? 'deferred'
  const verdict = classifyLocally(cause)
  const nothing = { site: null, reply: null, lookup: null }
  return { kind: 'closed', result, verdict, error, expiresAt, ...nothing }
}
