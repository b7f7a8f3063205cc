/**
 * Outbound: delivery tasks in, one result out for each. The caller asks `capacity` before it claims
 * emails, so that a site that is full, throttled or unreachable gets no more than it may take. A task may
 * still exceed the limits, because its site was not known yet; it is put back with its site, and no
 * attempt counts.
 *
 * This thread asks DNS and decides how many connections each site gets; the delivery threads do the
 * work. Messages that take long to compose are composed in a thread of their own first; they hold
 * neither a connection nor a place at their site meanwhile. Nothing here touches the database.
 */
import { availableParallelism } from 'node:os'
import { MINUTE_MS, type Now } from '../clock.ts'
import type { Config, ListenAddress } from '../config/config.ts'
import { describeError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { RenderedMessage, RenderSource } from '../mail/compose/build-message.ts'
import type { Tracker } from '../mail/html/tracking.ts'
import { type QueueClass, TRANSACTIONAL_CLASS } from '../queue-class.ts'
import type { AttemptOutcome } from './attempt.ts'
import { createComposing } from './composing/composing.ts'
import { createContentHistory, createContentMemory } from './composing/contents.ts'
import { createPreviews } from './composing/previews.ts'
import { type CheckedTemplate, createTemplateChecks } from './composing/template-checks.ts'
import type { Delivery, DeliveryResult, DeliveryTask } from './delivery.ts'
import {
  type Attempted,
  createDispatcher,
  type Heavy,
  type PutBack,
} from './dispatch/dispatcher.ts'
import type { Resolver } from './dns/resolver.ts'
import {
  outcomeOfClosed,
  outcomeOfUncomposed,
  outcomeText,
  siteObservationOf,
  withLookup,
} from './outcomes.ts'
import type { TransferableMessage } from './protocol.ts'
import type { ClosedDestination, Destination } from './routing/destination.ts'
import { createDestinations } from './routing/destinations.ts'
import { createBrokenTls, createPoolChooser, createSourceChooser } from './routing/pool-settings.ts'
import { createShaping, type SiteObservation } from './sites/shaping.ts'
import { createSiteQueues } from './sites/site-queues.ts'
import {
  type DeliveryProgress,
  pauseOf,
  reasonOf,
  restrictionOf,
  type SiteStatus,
  statusOf,
} from './sites/site-status.ts'
import type { Timeouts } from './smtp/timeouts.ts'

export type OutboundDeps = {
  config: Pick<Config, 'delivery'>
  log: Log
  now: Now
  resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'>
  tracker: Tracker
  /** Default: one per core, at most eight. */
  deliveryThreads?: number
  sandboxPort?: number | undefined
  /** Our own listeners for incoming mail: a destination that leads to one of them is a loop. */
  inboundListeners?: () => readonly Pick<ListenAddress, 'host' | 'port'>[]
  /** Domains (A-labels) that we receive mail for: mail to ourselves is no loop then. It may change. */
  receivedDomains?: ReadonlySet<string>
  /** For tests. */
  timeouts?: Partial<Timeouts>
  idleMs?: number
  hangMs?: number
  restMs?: number
  random?: () => number
}

/** Called with results, in a later turn of the event loop than `deliver`. */
export type OutboundListener = { finished(results: DeliveryResult[]): void }

export type Outbound = {
  /** How many emails of a class may be claimed for a site now. */
  capacity(site: string, queueClass: QueueClass): number
  /** How many emails of a project may be claimed now, for all sites together. */
  projectCapacity(projectId: string, queueClass: QueueClass): number
  /** Returns the site of a domain (A-labels), or the domain itself while its site is unknown. */
  siteOf(domain: string): string
  /** Epoch ms before which the site takes no mail; 0 = it takes mail. */
  blockedUntil(site: string): number
  /** Until when (epoch ms) nothing at all is sent to the site, and why; null = it is not paused. */
  pauseOf(site: string): { until: number; reason: string } | null
  /** When (epoch ms) and how the site last restricted us; null = it does not. */
  restrictionOf(site: string): { triedAt: number; reason: string } | null
  /** Whether there is memory for a content of that many bytes now. */
  hasMemoryFor(projectId: string, bytes: number): boolean
  deliver(tasks: readonly DeliveryTask[]): void
  /** Puts back the deliveries for a site that have not begun. */
  recall(site: string): void
  /**
   * Renders messages for preview, in the order of `sources`; null for a source that cannot be
   * rendered. Rejects while shutting down.
   */
  preview(sources: readonly RenderSource[]): Promise<readonly (RenderedMessage | null)[]>
  /** Returns the first fault of a template, found in a thread. Rejects while shutting down. */
  checkTemplate(source: string): Promise<CheckedTemplate>
  inFlight(): number
  /** All sites with deliveries in progress, or with a known state. */
  sites(): SiteStatus[]
  /** Ends a site's pause, rate and restriction at once; false if there was none. */
  liftSite(site: string): boolean
  /** The progress of a delivery; undefined if it is not in progress here. Takes a second at most. */
  progressOf(emailId: string): Promise<DeliveryProgress | undefined>
  /** Resolves when every task has its result and no connection is left open. */
  stop(graceMs: number): Promise<void>
}

/** Tasks whose destination is being resolved. */
type Group = { tasks: readonly DeliveryTask[]; since: number; isDone: boolean }

const MAX_THREADS = 8
const MAX_PER_THREAD = 500
/** The reserve of transactional mail beyond the total limit. */
const TRANSACTIONAL_RESERVE = 1.25
const IDLE_MS = 30_000
const HANG_MS = 5_000
/** How long composing threads are kept without work. */
const REST_MS = MINUTE_MS
/** After an error of our own, before the task may be claimed again. */
const FAULT_PAUSE_MS = MINUTE_MS

export function startOutbound(deps: OutboundDeps, listener: OutboundListener): Outbound {
  const { config, log, now } = deps
  const { delivery } = config
  const random = deps.random ?? Math.random
  const maxThreads = deps.deliveryThreads ?? Math.min(MAX_THREADS, availableParallelism())
  const receivedDomains = deps.receivedDomains ?? new Set<string>()
  const destinations = createDestinations({
    ...deps,
    random,
    receivedDomains,
    sandboxPort: deps.sandboxPort ?? null,
    inboundListeners: deps.inboundListeners ?? (() => []),
  })
  const shaping = createShaping({ ...delivery, now, random })
  const sources = createSourceChooser(delivery.sourceAddresses, now)
  const brokenTls = createBrokenTls(now)
  const poolDeps = { shaping, sources, brokenTls, receivedDomains }
  const queues = createSiteQueues(now)
  const contentMemory = createContentMemory()
  const history = createContentHistory()
  const groups = new Set<Group>()
  const settings = {
    ehloName: delivery.hostname,
    relay: delivery.relay,
    tracker: deps.tracker,
    timeouts: deps.timeouts ?? {},
    idleMs: deps.idleMs ?? IDLE_MS,
  }
  const { hangMs = HANG_MS, restMs = REST_MS } = deps
  const previews = createPreviews({ settings, log, hangMs, restMs })
  const checks = createTemplateChecks({ settings, log, hangMs, restMs })
  const composing = createComposing({
    ...{ settings, log, now, hangMs, restMs, history },
    composed: addComposed,
    failed: failUncomposed,
    putBack: (one, delayMs) => settle(one, putBack(one, one.pool.site, { delayMs })),
  })
  const dispatcher = createDispatcher({
    settings,
    maxThreads,
    maxConnections: delivery.maxConnections,
    maxConnectionsPerSite: delivery.maxConnectionsPerSite,
    hangMs,
    log,
    now,
    queues,
    connectionsOf: shaping.connections,
    standingOf: shaping.standing,
    done: finish,
  })
  let isStopping = false
  let outbox: DeliveryResult[] = []

  function capacity(site: string, queueClass: QueueClass): number {
    if (isStopping) return 0
    const total = maxInFlight(queueClass) - queues.total()
    return Math.max(0, Math.min(siteCapacity(site, queueClass), total))
  }

  function maxInFlight(queueClass: QueueClass): number {
    const max = maxThreads * MAX_PER_THREAD
    return queueClass === TRANSACTIONAL_CLASS ? Math.ceil(max * TRANSACTIONAL_RESERVE) : max
  }

  function siteCapacity(site: string, queueClass: QueueClass): number {
    const isUrgent = queueClass === TRANSACTIONAL_CLASS
    return shaping.capacity(site, { outstanding: queues.count(site), isUrgent })
  }

  function deliver(tasks: readonly DeliveryTask[]): void {
    const byDomain = new Map<string, DeliveryTask[]>()
    for (const task of tasks) {
      queues.enterResolving(task)
      contentMemory.enter(task.projectId, task.source.content)
      const group = byDomain.get(task.domain)
      if (group === undefined) byDomain.set(task.domain, [task])
      else group.push(task)
    }
    for (const [domain, some] of byDomain) {
      if (isStopping) putBackUnresolved(some)
      else resolve(domain, some)
    }
  }

  function resolve(domain: string, tasks: readonly DeliveryTask[]): void {
    const known = destinations.find(domain)
    if (known !== undefined) {
      dispatch(tasks, known, false)
      return
    }
    const group: Group = { tasks, since: now(), isDone: false }
    groups.add(group)
    const end = (act: () => void) => {
      groups.delete(group)
      if (!group.isDone) act()
    }
    destinations.resolve(domain).then(
      (found) => end(() => dispatch(tasks, found, true)),
      (error: unknown) => {
        log.error({ domain, error: describeError(error) }, 'a destination could not be resolved')
        end(() => putBackUnresolved(tasks, FAULT_PAUSE_MS))
      },
    )
  }

  /** `isOwnLookup`: the destination was resolved for these tasks. */
  function dispatch(
    tasks: readonly DeliveryTask[],
    destination: Destination,
    isOwnLookup: boolean,
  ): void {
    if (destination.kind === 'closed') {
      for (const task of tasks) close(task, destination)
      return
    }
    for (const task of tasks) queues.leaveResolving(task)
    const { site, lookup } = destination
    const poolOf = createPoolChooser(poolDeps, destination)
    const ready: Delivery[] = []
    const isFirst = (task: DeliveryTask) =>
      mayJoin(task, site) && !ready.some(({ projectId }) => projectId === task.projectId)
    for (const task of tasks.toSorted((left, right) => left.queueClass - right.queueClass)) {
      if (siteCapacity(site, task.queueClass) - ready.length <= 0 && !isFirst(task)) {
        settle(task, putBack(task, site))
        continue
      }
      const state = { since: now(), task: 0, thread: null, lostThreads: 0 }
      const one: Delivery = { ...task, pool: poolOf(task), lookup, isOwnLookup, ...state }
      if (history.isHeavy(task.source.content)) compose(one)
      else {
        shaping.take(site, 1)
        ready.push(one)
      }
    }
    dispatcher.add(ready)
  }

  /** A project without mail to a site gets its first email in, even if others fill the site. */
  function mayJoin({ projectId }: DeliveryTask, site: string): boolean {
    if (shaping.standing(site) !== 'replied' || shaping.blockedUntil(site) > 0) return false
    return queues.find(site)?.projects.has(projectId) !== true
  }

  function compose(one: Delivery): void {
    one.since = now()
    const delayMs = isStopping ? 0 : composing.add(one)
    if (isStopping || delayMs > 0) settle(one, putBack(one, one.pool.site, { delayMs }))
  }

  /** Adds a composed message although its site may be full by now: there are few of them. */
  function addComposed(one: Delivery, message: TransferableMessage): void {
    one.composed = message
    one.composedBytes = message.octets.length
    const { site } = one.pool
    if (isStopping || shaping.blockedUntil(site) > 0) {
      releaseComposed(one)
      settle(one, putBack(one, site))
      return
    }
    shaping.take(site, 1)
    dispatcher.add([one])
  }

  function releaseComposed({ projectId, composedBytes }: Delivery): void {
    if (composedBytes !== undefined) composing.release(projectId, composedBytes)
  }

  function failUncomposed(one: Delivery, reason: string): void {
    const outcome = withLookup(outcomeOfUncomposed(reason), one.lookup, one.isOwnLookup)
    settle(one, withoutMessage(one, one.pool.site, outcome))
  }

  function withoutMessage(
    { emailId }: DeliveryTask,
    site: string,
    outcome: AttemptOutcome,
  ): DeliveryResult {
    const own = { subject: null, faults: [], startedAt: now() }
    return { emailId, kind: 'attempted', site, outcome, ...own }
  }

  function close(task: DeliveryTask, closed: ClosedDestination): void {
    queues.leaveResolving(task)
    if (closed.site !== null && shaping.blockedUntil(closed.site) > 0) {
      settle(task, putBack(task, task.site))
      return
    }
    const outcome = outcomeOfClosed(closed)
    settle(task, withoutMessage(task, task.site, outcome))
    if (closed.site !== null) observe(closed.site, { kind: 'unreachable' }, outcome)
  }

  function putBackUnresolved(tasks: readonly DeliveryTask[], delayMs = 0): void {
    for (const task of tasks) {
      queues.leaveResolving(task)
      settle(task, putBack(task, task.site, { delayMs }))
    }
  }

  /**
   * The result of a task that is put back. At a paused site it is due at once: the queue knows when to
   * ask about the site again, and an operator may end the pause earlier.
   */
  function putBack(
    { emailId }: DeliveryTask,
    site: string,
    { delayMs = 0, reason: own }: Partial<PutBack> = {},
  ): DeliveryResult {
    const blockedUntil = shaping.blockedUntil(site)
    const { pausedUntil } = shaping.restriction(site)
    const rateUntil = pausedUntil === null ? blockedUntil : 0
    const retryAt = Math.max(rateUntil, delayMs > 0 ? now() + delayMs : 0)
    const reason = blockedUntil > 0 ? reasonOf(shaping, site) : own
    return { emailId, kind: 'put back', site, retryAt: retryAt > 0 ? retryAt : null, reason }
  }

  /** Ends a task that no thread has; its result follows in a later turn of the event loop. */
  function settle({ source }: DeliveryTask, result: DeliveryResult): void {
    contentMemory.leave(source.content)
    if (outbox.push(result) === 1) setImmediate(flush)
  }

  function flush(): void {
    const results = outbox
    outbox = []
    if (results.length > 0) listener.finished(results)
  }

  function finish(ends: ReadonlyMap<Delivery, Attempted | PutBack | Heavy>): void {
    const results: DeliveryResult[] = []
    for (const [one, result] of ends) {
      if (result.kind === 'heavy') {
        composeInstead(one, result.reason)
        continue
      }
      contentMemory.leave(one.source.content)
      releaseComposed(one)
      if (result.kind === 'put back') results.push(putBack(one, one.pool.site, result))
      else results.push(attempted(one, result))
    }
    if (results.length > 0) listener.finished(results)
  }

  function attempted(one: Delivery, result: Attempted): DeliveryResult {
    const { emailId, pool, lookup, isOwnLookup } = one
    if (result.brokenTls !== null) brokenTls.add(result.brokenTls)
    observeOutcome(one, result.outcome)
    const { subject, faults, startedAt } = result
    const outcome = withLookup(result.outcome, lookup, isOwnLookup)
    return { emailId, kind: 'attempted', site: pool.site, outcome, subject, faults, startedAt }
  }

  /** Composes a message that took too long, or ended its thread (`reason`), in a composing thread. */
  function composeInstead(one: Delivery, reason: string | null): void {
    const { content } = one.source
    const isOnceTooOften = reason !== null && history.recordThreadEnd(content, reason)
    if (reason === null) history.recordTime(content, null)
    if (isOnceTooOften) failUncomposed(one, reason)
    else compose(one)
  }

  function observeOutcome({ pool }: Delivery, outcome: AttemptOutcome): void {
    const { site } = pool
    const observed = siteObservationOf(outcome)
    if (observed === null) return
    const local = outcome.address?.includes(':') ? pool.source.ipv6 : pool.source.ipv4
    const isBlock = observed.kind === 'replied' && observed.action === 'block'
    const hasOther = isBlock && local !== undefined && sources.refuse(site, local)
    observe(site, hasOther ? { ...observed, action: 'none' } : observed, outcome)
  }

  function observe(site: string, observed: SiteObservation, outcome: AttemptOutcome): void {
    if (!shaping.record(site, observed, outcomeText(outcome))) return
    const until = new Date(shaping.blockedUntil(site)).toISOString()
    const fact = { site, until, reply: outcome.reply?.text ?? outcome.error }
    if (observed.kind === 'unreachable') log.warn(fact, 'a destination cannot be reached')
    else if (observed.kind === 'replied' && observed.action === 'suspend')
      log.error(fact, 'a destination refuses all mail from here')
    else log.warn(fact, 'a destination limits our mail')
    recall(site)
  }

  function recall(site: string): void {
    dispatcher.recall(site)
    composing.recall(site)
  }

  async function progressOf(emailId: string): Promise<DeliveryProgress | undefined> {
    for (const { tasks, since } of groups) {
      const task = tasks.find((one) => one.emailId === emailId)
      if (task !== undefined) return { site: task.site, step: 'dns', peer: null, since }
    }
    const isIt = (one: DeliveryTask) => one.emailId === emailId
    const waiting = composing.find(isIt)
    if (waiting === undefined) return dispatcher.progressOf(isIt)
    return { site: waiting.pool.site, step: 'waiting', peer: null, since: waiting.since }
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    for (const group of groups) {
      group.isDone = true
      putBackUnresolved(group.tasks)
    }
    const helpers = [composing.stop(), previews.stop(), checks.stop()]
    await Promise.all([...helpers, dispatcher.stop(graceMs)])
    flush()
  }

  return {
    capacity,
    projectCapacity: (projectId, queueClass) =>
      queues.projectCapacity(projectId, maxInFlight(queueClass)),
    siteOf: destinations.siteOf,
    blockedUntil: shaping.blockedUntil,
    pauseOf: (site) => pauseOf(shaping, site),
    restrictionOf: (site) => restrictionOf(shaping, site),
    deliver,
    hasMemoryFor: contentMemory.hasSpace,
    recall,
    preview: previews.preview,
    checkTemplate: checks.check,
    inFlight: () => queues.total() + composing.waiting(),
    sites: () =>
      [...new Set([...shaping.sites(), ...queues.busySites()])].map((site) =>
        statusOf({ shaping, queues, dispatcher }, site),
      ),
    liftSite: shaping.lift,
    progressOf,
    stop,
  }
}
