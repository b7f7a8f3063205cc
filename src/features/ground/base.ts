/**
 * The parts that every feature may use: configuration, database, network, clock, log. `openCore`
 * makes them, and a function takes only the parts that it uses: `Pick<Base, 'store' | 'now'>`. No
 * part here belongs to a feature; `core.ts` adds the parts that features make.
 */
import type { Now } from '../../base/clock.ts'
import type { Counters } from '../../base/counters.ts'
import type { Health } from '../../base/health.ts'
import type { Log } from '../../base/log.ts'
import type { Certificates } from '../../config/certificates/watch.ts'
import type { Config } from '../../config/config.ts'
import type { Keyring } from '../../config/keyring.ts'
import type { Resolver } from '../../outbound/dns/resolver.ts'
import type { HttpClient } from '../../outbound/http/client.ts'
import type { PublicFetch } from '../../outbound/http/clients.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Disk } from '../../store/files/disk.ts'
import type { UsageCategory } from '../../store/schema/words.ts'
import type { Store } from '../../store/store.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Notifier } from '../../work/loop.ts'
import type { SharedRuns } from '../../work/shared-runs.ts'
import type { Directory } from './directory.ts'
import type { InboundNotice } from './inbound-notice.ts'
import type { ListTotals } from './list-totals.ts'
import type { Duties } from './manifest/area.ts'
import type { WebhookNotifier } from './webhook-notifier.ts'

export type UsageNotice = {
  projectId: string
  /** The beginning of the month (epoch ms). */
  startsAt: number
  /** The category of the limit; 'shared' for the limit of all categories together. */
  category: UsageCategory | 'shared'
  percent: 80 | 100
  /** Emails in the month. */
  limit: number
  used: number
}

export type Base = {
  config: Config
  keyring: Keyring
  store: Store
  /** Cached look-ups of projects, keys, domains and templates. */
  directory: Directory
  resolver: Resolver
  /** An HTTP client that connects to public addresses only. */
  publicFetch: PublicFetch
  /** The HTTP client of webhooks. */
  webhookClient: HttpClient
  outbound: Outbound
  /**
   * Tells the reader of received mail which message was stored, or that other messages may be
   * pending.
   */
  inboundNotifier: Notifier<InboundNotice>
  /** Wakes the job loop when a job was enqueued. */
  jobNotifier: Notifier
  /** Names a running job that is to stop. */
  jobCancels: Notifier<string>
  /** Wakes the sending of campaigns when one was started, resumed or changed. */
  campaignNotifier: Notifier
  /** Wakes the sender of webhooks when deliveries are due or an endpoint was changed. */
  webhookNotifier: WebhookNotifier
  /**
   * Requests a mail to the members of a project: its domain `domain` (A-labels) is no longer
   * verified.
   */
  reportDomainLoss(tx: Tx, lost: { projectId: string; domain: string }, at: number): Promise<void>
  /** Requests a mail to the members of a project: its use has reached 80% or 100% of a limit. */
  reportUsage(tx: Tx, notice: UsageNotice, at: number): Promise<void>
  /** The totals of lists; the total of a long list is kept for some minutes. */
  listTotals: ListTotals
  /**
   * Long work of which one run goes on at a time; callers that arrive during a run share the next
   * run.
   */
  sharedRuns: SharedRuns
  /** The TLS certificates of the listeners, reloaded when their files change. */
  certificates: Certificates
  /** The free space of the database's disk. */
  disk: Disk
  /** The reasons for which `/health` reports `degraded`. */
  health: Health
  /** The counters of `/metrics`. */
  counters: Counters
  /** What the areas hand in: tables, references, kinds of jobs. */
  duties: Duties
  now: Now
  log: Log
}
