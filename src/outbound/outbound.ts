/**
 * Outbound: delivery tasks in, one result out for each. The caller asks `capacity`,
 * `lacksConnection` and `starvedCapacity` before it claims emails, so that a site that is full, throttled or unreachable gets
 * no more mail than its limits allow. A task may still exceed the limits, because its site was not known yet; it is put back
 * with its site, and no attempt is counted.
 *
 * The main thread queries DNS and decides how many connections each site gets; the delivery threads
 * do the work. Messages that take long are first composed in a composing thread; meanwhile they
 * hold neither a connection nor a place at their site. Nothing here touches the database.
 */
import { availableParallelism } from 'node:os'
import { MINUTE_MS, type Now } from '../base/clock.ts'
import type { Counters } from '../base/counters.ts'
import type { Log } from '../base/log.ts'
import type { QueueClass } from '../base/queue-class.ts'
import type { Config, ListenAddress } from '../config/config.ts'
import type { RenderedMessage, RenderSource } from '../formats/compose/build-message.ts'
import type { InspectedMessage, MessageRules } from '../formats/compose/message-findings.ts'
import type { Tracker } from '../formats/html/tracking.ts'
import { createPreviews, signInThread, type UnsignedMessage } from './composing/previews.ts'
import {
  type CheckedTemplate,
  checkInThread,
  convertInThread,
  type RenderedTexts,
  renderTextsInThread,
} from './composing/texts.ts'
import { createThreadTasks } from './composing/thread-tasks.ts'
import { createDeliveries } from './deliveries.ts'
import type { DeliveryResult, DeliveryTask } from './delivery.ts'
import type { ThreadLoad } from './dispatch/dispatcher.ts'
import type { Resolver } from './dns/resolver.ts'
import type { TextsSource } from './protocol.ts'
import { createDestinations } from './routing/destinations.ts'
import { createShaping } from './sites/shaping.ts'
import { createSiteQueues } from './sites/site-queues.ts'
import { type DeliveryProgress, type SiteStatus, statusOf } from './sites/site-status.ts'
import type { MailOwner } from './sites/starved-sites.ts'
import type { SmtpTimeouts } from './smtp/commands.ts'

export type OutboundDeps = {
  config: Pick<Config, 'delivery'>
  log: Log
  counters?: Pick<Counters, 'add'> | undefined
  now: Now
  resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'>
  tracker: Tracker
  /** Default: one per core, at most eight. */
  deliveryThreads?: number
  sandboxPort?: number | undefined
  /** The listeners of this server: a destination that leads to one of them is a loop. */
  inboundListeners?: () => readonly Pick<ListenAddress, 'host' | 'port'>[]
  /**
   * Domains (A-labels) whose mail this server receives: for them, a destination that leads to this
   * server is not a loop. The set may change.
   */
  receivedDomains?: ReadonlySet<string>
  /** Replaces some of the default time limits; for tests. */
  timeouts?: Partial<SmtpTimeouts>
  idleMs?: number
  hangMs?: number
  restMs?: number
  random?: () => number
}

/** Gets the results of deliveries, in a later turn of the event loop than `deliver`. */
export type OutboundListener = { finished(results: DeliveryResult[]): void }

export type Outbound = {
  /** How many emails of a class may be claimed for a site now. */
  capacity(site: string, queueClass: QueueClass): number
  /**
   * Whether mail of the project would wait for a connection: the site has none, and none is free for it.
   * A domain whose site is not known yet has none.
   */
  lacksConnection(site: string, projectId: string): boolean
  /** How many more sites without a connection may get mail of this owner. */
  starvedCapacity(owner: MailOwner): number
  /** How many emails of a project may be claimed now, for all sites together. */
  projectCapacity(projectId: string, queueClass: QueueClass): number
  /** Returns the site of a domain (A-labels), or the domain itself while its site is unknown. */
  siteOf(domain: string): string
  /** As `siteOf`; undefined while the site is unknown, and for mail to a smarthost or the sandbox. */
  knownSiteOf(domain: string): string | undefined
  /** The domains (A-labels) with a known site. */
  knownSites(): Iterable<readonly [domain: string, site: string]>
  /** The instant (epoch ms) before which nothing may be sent to the site; 0 if mail may be sent. */
  blockedUntil(site: string): number
  /** Until when (epoch ms) nothing is sent to the site, and why; null = it is not paused. */
  pauseOf(site: string): { until: number; reason: string } | null
  /** When (epoch ms) and why the site was last restricted; null = it is not restricted. */
  restrictionOf(site: string): { triedAt: number; reason: string } | null
  /** Whether there is memory for a content of that many bytes now. */
  hasMemoryFor(projectId: string, bytes: number): boolean
  deliver(tasks: readonly DeliveryTask[]): void
  /** Puts back the deliveries for a site that have not begun. */
  recall(site: string): void
  /**
   * Takes back the deliveries of these groups. From half a second later on, none of their messages is
   * begun; a message that is being written is finished.
   */
  withdraw(groups: ReadonlySet<string>): void
  /**
   * Renders messages for preview, in the order of `sources`; null for a source that cannot be
   * rendered. This method and those down to `sign` wait for the turn of the project
   * (`turns/turns.ts`), and reject while shutting down.
   * @throws AppError RATE_LIMIT_EXCEEDED, EXTERNAL_SERVICE_ERROR, REQUEST_TIMEOUT
   */
  preview(sources: readonly RenderSource[]): Promise<readonly (RenderedMessage | null)[]>
  /** Renders messages as `preview` does, and returns what an author may want to mend in them. */
  inspect(
    sources: readonly RenderSource[],
    rules: MessageRules,
  ): Promise<readonly (InspectedMessage | null)[]>
  /** Returns the first fault of a template, found in a thread. */
  checkTemplate(source: string): Promise<CheckedTemplate>
  /** Turns Markdown to HTML; null if it is too complex. Rejects as `ThreadTasks.run`. */
  convertMarkdown(source: string): Promise<string | null>
  /** Renders texts that are no part of a message, in a thread. */
  renderTexts(source: TextsSource): Promise<RenderedTexts>
  /** Composes and signs a message for reading; null if it cannot be composed. */
  sign(message: UnsignedMessage): Promise<Uint8Array | null>
  inFlight(): number
  /** The delivery threads, and the deliveries that wait for a connection or a thread. */
  threads(): ThreadLoad
  /** All sites with deliveries in progress, or with a known state. */
  sites(): SiteStatus[]
  /** The status of one site; a site without a known state is not restricted. */
  siteStatus(site: string): SiteStatus
  /** Ends a site's pause, rate and restriction at once; false if there was none. */
  liftSite(site: string): boolean
  /**
   * The progress of a delivery; undefined if the delivery is not in progress here. Resolves within
   * a second.
   */
  progressOf(emailId: string): Promise<DeliveryProgress | undefined>
  /**
   * Ends delivery, and nothing else: deliveries whose message is not being written are put back, the
   * others may wait `graceMs` for their reply. Resolves when every task has its result and no
   * connection is left open.
   */
  endDeliveries(graceMs: number): Promise<void>
  /** Ends delivery and the threads that render. */
  stop(graceMs: number): Promise<void>
}

const MAX_THREADS = 8
const IDLE_MS = 30_000
const HANG_MS = 5_000
/** How long composing threads are kept without work. */
const REST_MS = MINUTE_MS

export function startOutbound(deps: OutboundDeps, listener: OutboundListener): Outbound {
  const { config, log, counters, now } = deps
  const { delivery } = config
  const random = deps.random ?? Math.random
  const receivedDomains = deps.receivedDomains ?? new Set<string>()
  const { hangMs = HANG_MS, restMs = REST_MS } = deps
  const settings = {
    ehloName: delivery.hostname,
    relay: delivery.relay,
    tracker: deps.tracker,
    timeouts: deps.timeouts ?? {},
    idleMs: deps.idleMs ?? IDLE_MS,
  }
  const destinations = createDestinations({
    ...deps,
    random,
    receivedDomains,
    sandboxPort: deps.sandboxPort ?? null,
    inboundListeners: deps.inboundListeners ?? (() => []),
  })
  const shaping = createShaping({ ...delivery, now, random })
  const queues = createSiteQueues(now)
  // These threads render previews and texts that people wait for, and texts of workflows.
  const reading = createThreadTasks({ settings, log, counters, hangMs, restMs })
  const texts = createThreadTasks({ settings, log, counters, hangMs, restMs })
  const previews = createPreviews(reading)
  const deliveries = createDeliveries({
    ...{ config: delivery, settings, log, counters, now, hangMs, restMs },
    ...{ destinations, shaping, queues, receivedDomains },
    maxThreads: deps.deliveryThreads ?? Math.min(MAX_THREADS, availableParallelism()),
    listener,
  })
  const { capacity, starvedCapacity, projectCapacity, deliver, hasMemoryFor } = deliveries
  const siteStatus = (site: string) => statusOf({ shaping, queues, deliveries }, site)
  return {
    ...{ capacity, starvedCapacity, projectCapacity, deliver, hasMemoryFor },
    lacksConnection: deliveries.lacksConnection,
    recall: deliveries.recall,
    withdraw: deliveries.withdraw,
    inFlight: deliveries.inFlight,
    threads: deliveries.threads,
    progressOf: deliveries.progressOf,
    siteOf: destinations.siteOf,
    knownSiteOf: destinations.knownSiteOf,
    knownSites: destinations.knownSites,
    blockedUntil: shaping.blockedUntil,
    pauseOf: shaping.pauseOf,
    restrictionOf: shaping.restrictionOf,
    liftSite: shaping.lift,
    preview: previews.preview,
    inspect: previews.inspect,
    checkTemplate: (source) => checkInThread(reading, source),
    convertMarkdown: (source) => convertInThread(reading, source),
    renderTexts: (source) => renderTextsInThread(texts, source),
    sign: (message) => signInThread(reading, message),
    sites: () => [...new Set([...shaping.sites(), ...queues.busySites()])].map(siteStatus),
    siteStatus,
    endDeliveries: deliveries.stop,
    async stop(graceMs) {
      const threads = [reading, texts].map(({ stop }) => stop())
      await Promise.all([...threads, deliveries.stop(graceMs)])
    },
  }
}
