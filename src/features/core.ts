/**
 * What the verbs are made of. `app.ts` builds one; each verb takes only the part it uses
 * (`Pick<Core, 'store' | 'now'>`), edges hand theirs through.
 */
import type { Now } from '../clock.ts'
import type { Certificates } from '../config/certificates/watch.ts'
import type { Config } from '../config/config.ts'
import type { Keyring } from '../config/keyring.ts'
import type { Counters } from '../counters.ts'
import type { Health } from '../health.ts'
import type { Log } from '../log.ts'
import type { Resolver } from '../outbound/dns/resolver.ts'
import type { PublicFetch } from '../outbound/http/public-fetch.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Disk } from '../store/files/disk.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './accounts/directory.ts'
import type { Fuse } from './messages/outcome/fuse.ts'
import type { KnownDomains } from './messages/outcome/known-domains.ts'
import type { QueueNotifier } from './messages/queue/notifier.ts'
import type { Throttle } from './messages/queue/throttle.ts'
import type { Notifier } from './notifier.ts'
import type { IdempotencyClaims } from './requests/idempotency.ts'
import type { SharedRuns } from './shared-runs.ts'
import type { HitLog } from './tracking/hit-log.ts'
import type { Verifier } from './verification/verifier.ts'

export type Core = {
  config: Config
  keyring: Keyring
  store: Store
  directory: Directory
  resolver: Resolver
  /** What verification of addresses asks, apart from deliveries. */
  verifier: Verifier
  /** Asks hosts of the internet, and nothing inside a network of ours. */
  publicFetch: PublicFetch
  outbound: Outbound
  /** Idempotency keys of requests in flight. */
  claims: IdempotencyClaims
  /** How many emails of a project may start now. */
  throttle: Throttle
  /** Tells the queue that something is due. */
  queueNotifier: QueueNotifier
  /** Tells whoever reads inbound mail that some was kept. */
  inboundNotifier: Notifier
  /** Tells the job loop that there is a new job. */
  jobNotifier: Notifier
  /** Who computes or counts a segment, one at a time. */
  sharedRuns: SharedRuns
  /** Whether our own verdicts may suppress. */
  fuse: Fuse
  /** Recipient domains where there was somebody. */
  knownDomains: KnownDomains
  /** Takes opens and clicks. */
  hits: HitLog
  /** Of the listeners, renewed while they listen. */
  certificates: Certificates
  /** Whether there is room for more. */
  disk: Disk
  /** Why `/health` says `degraded`. */
  health: Health
  /** Counts for `/metrics`. */
  counters: Counters
  now: Now
  log: Log
}

/** What a command has: everything but the means to deliver and to be called. */
export type CommandCore = Omit<Core, 'outbound' | 'hits' | 'throttle' | 'fuse' | 'knownDomains'>
