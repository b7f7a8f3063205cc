/**
 * What the verbs are made of. `app.ts` builds one; each verb takes only the part it uses
 * (`Pick<Core, 'store' | 'now'>`), edges hand theirs through.
 */
import type { Now } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Keyring } from '../config/keyring.ts'
import type { Log } from '../log.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Resolver } from '../outbound/resolver.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './accounts/directory.ts'
import type { QueueBell } from './messages/bell.ts'
import type { IdempotencyClaims } from './messages/idempotency.ts'

export type Core = {
  config: Config
  keyring: Keyring
  store: Store
  directory: Directory
  resolver: Resolver
  outbound: Outbound
  /** Idempotency keys of requests in flight. */
  claims: IdempotencyClaims
  /** Tells the queue that something is due. */
  bell: QueueBell
  now: Now
  log: Log
}

/** What a command has: everything but the means to deliver. */
export type CommandCore = Omit<Core, 'outbound'>
