/**
 * Outbound: a delivery task in, one report out. The caller asks `capacity` before it leases
 * anything, so a site that is full, throttled or dead is never given more than it may take; what
 * turns out to be too much all the same (a domain whose site was not known yet) comes back as
 * `returned`, with its site, and no attempt counts.
 *
 * This thread asks DNS and decides who may have how many connections; the delivery threads do the
 * work. Messages that take long to make are made in a thread of their own first, and hold neither a
 * connection nor a place at their site meanwhile. Nothing here touches the database.
 */

import { availableParallelism } from 'node:os'
import { MINUTE_MS, type Now } from '../clock.ts'
import type { Config, ListenAddress } from '../config/config.ts'
import { describeError } from '../errors.ts'
import type { Log } from '../log.ts'
import type {
  MessageSource,
  PartFault,
  RenderedMessage,
  RenderSource,
} from '../mail/compose/build-message.ts'
import type { SigningKey } from '../mail/compose/dkim.ts'
import type { Tracker } from '../mail/html/tracking.ts'
import { type QueueClass, TRANSACTIONAL_CLASS } from '../queue-class.ts'
import type { AttemptOutcome } from './attempt.ts'
import { createComposing } from './composing/composing.ts'
import { createContentHistory } from './composing/content-history.ts'
import { createContentMemory } from './composing/content-memory.ts'
import { createPreviews } from './composing/previews.ts'
import { type CheckedTemplate, createTemplateChecks } from './composing/template-checks.ts'
import {
  type Attempted,
  createDispatcher,
  type Done,
  type Returned,
} from './dispatch/dispatcher.ts'
import type { Resolver } from './dns/resolver.ts'
import {
  outcomeOfClosed,
  outcomeOfUncomposed,
  outcomeText,
  siteObservationOf,
  withLookup,
} from './outcomes.ts'
import type { PoolSettings, TransferableMessage } from './protocol.ts'
import { createBrokenTls } from './routing/broken-tls.ts'
import type { ClosedDestination, Destination, Lookup } from './routing/destination.ts'
import { createDestinations } from './routing/destinations.ts'
import { createPoolChooser } from './routing/pool-settings.ts'
import { createSourceChooser } from './routing/source-addresses.ts'
import { createInFlight, type Flight } from './sites/in-flight.ts'
import { createShaping, type SiteObservation } from './sites/shaping.ts'
import type { DeliveryProgress, SiteStatus } from './sites/site-status.ts'
import type { Timeouts } from './smtp/timeouts.ts'

export type { DeliveryProgress, SiteStatus } from './sites/site-status.ts'

export type DeliveryTask = {
  emailId: string
  /** Whose it is: projects share the connections. */
  projectId: string
  queueClass: QueueClass
  /** As on the wire: A-labels. */
  recipient: string
  /** Of the recipient, A-labels. */
  domain: string
  /** What `siteOf` said when it was leased. */
  site: string
  /** '' = the null reverse-path. */
  reversePath: string
  source: MessageSource
  signingKeys: readonly SigningKey[]
}

export type DeliveryResult =
  | {
      emailId: string
      kind: 'attempted'
      site: string
      outcome: AttemptOutcome
      /** As rendered; null when no message was made. */
      subject: string | null
      /** Of the message's templates. */
      faults: readonly PartFault[]
      startedAt: number
    }
  /**
   * Put back, no attempt counted. `retryAt`: epoch ms, null = as soon as there is room. `reason`:
   * why its site takes nothing, or little, now, or why its session was ended.
   */
  | {
      emailId: string
      kind: 'put back'
      site: string
      retryAt: number | null
      reason?: string | undefined
    }

export type OutboundDeps = {
  config: Pick<Config, 'delivery'>
  log: Log
  now: Now
  resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'>
  tracker: Tracker
  /** Default: one per core, at most eight. */
  deliveryThreads?: number
  sandboxPort?: number | undefined
  /** Our own listeners for mail from outside: a route to one of them is a loop. */
  inboundListeners?: () => readonly Pick<ListenAddress, 'host' | 'port'>[]
  /** Domains (A-labels) that we take mail for, whose route to ourselves is none. */
  receivesFor?: (domain: string) => boolean
  /** For tests. */
  timeouts?: Partial<Timeouts>
  idleMs?: number
  hangMs?: number
  restMs?: number
  random?: () => number
}

export type OutboundListener = { report(reports: DeliveryResult[]): void }

export type Outbound = {
  /** How many messages of a class may be leased for a site now. */
  capacity(site: string, queueClass: QueueClass): number
  /** How many of a project, to whatever site: no backlog takes the room of other projects. */
  projectCapacity(projectId: string, queueClass: QueueClass): number
  /** The site of a domain (A-labels) as far as it is known; else the domain. */
  siteOf(domain: string): string
  /** Epoch ms before which the site takes nothing; 0 = it does. */
  blockedUntil(site: string): number
  /** Why, and until when (epoch ms), nothing at all goes to the site; null = something may. */
  pauseOf(site: string): { until: number; reason: string } | null
  /** When the site last showed that it takes nothing or little (epoch ms), and how; null = it does not. */
  restrictionOf(site: string): { triedAt: number; reason: string } | null
  /** Whether a content of that many bytes may be read and brought now. */
  mayBring(projectId: string, bytes: number): boolean
  deliver(tasks: readonly DeliveryTask[]): void
  /** Hands back what has not begun for a site, at once; it may be brought again. */
  recall(site: string): void
  /**
   * What recipients would read, in the order of `sources`; null for what cannot be rendered.
   * Rejects while shutting down.
   */
  preview(sources: readonly RenderSource[]): Promise<readonly (RenderedMessage | null)[]>
  /** The first fault of a template, read where nobody waits. Rejects while shutting down. */
  checkTemplate(source: string): Promise<CheckedTemplate>
  inFlight(): number
  /** All sites that something is known of or in flight to. */
  sites(): SiteStatus[]
  /** Ends a site's back-off, rate and restriction at once; false when nothing was restricted. */
  liftSite(site: string): boolean
  /** How far a delivery has come; undefined when it is not here (any more). Answers within a second. */
  progressOf(emailId: string): Promise<DeliveryProgress | undefined>
  /** Every task has been reported when it resolves, and nothing is left open. */
  stop(graceMs: number): Promise<void>
}

/** A task under way: `lookup` is the DNS work that its route took. */
type Work = DeliveryTask & {
  pool: PoolSettings
  lookup: Lookup | null
  isOwnLookup: boolean
  composed?: TransferableMessage
  /** Of `letter`, which they outlive. */
  composedBytes?: number
  /** Epoch ms, of what waits to be composed by itself. */
  since?: number
}

/** Tasks whose route is looked up. */
type Group = { tasks: readonly DeliveryTask[]; since: number; isDone: boolean }

const MAX_THREADS = 8
const MAX_PER_THREAD = 500
const IDLE_MS = 30_000
const HANG_MS = 5_000
/** Threads without sockets are kept that long when nothing is to be done. */
const REST_MS = MINUTE_MS
/** After an error of ours, before it is tried again. */
const FAULT_PAUSE_MS = MINUTE_MS

export function startOutbound(deps: OutboundDeps, listener: OutboundListener): Outbound {
  const { config, log, now } = deps
  const { delivery } = config
  const random = deps.random ?? Math.random
  const maxThreads = deps.deliveryThreads ?? Math.min(MAX_THREADS, availableParallelism())
  const maxInFlight = maxThreads * MAX_PER_THREAD
  const receivesFor = deps.receivesFor ?? (() => false)
  const destinations = createDestinations({
    ...deps,
    random,
    receivesFor,
    sandboxPort: deps.sandboxPort ?? null,
    inboundListeners: deps.inboundListeners ?? (() => []),
  })
  const shaping = createShaping({ ...delivery, now, random })
  const sources = createSourceChooser(delivery.sourceAddresses, now)
  const brokenTls = createBrokenTls(now)
  const poolDeps = { shaping, sources, brokenTls, receivesFor }
  const inFlight = createInFlight()
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
  const composing = createComposing<Work>({
    ...{ settings, log, now, hangMs, restMs, history },
    made: (work, composed) => addMade({ ...work, composed, composedBytes: composed.octets.length }),
    failed: reportUnmade,
    returned: (work, delayMs) => settle(work, returned(work, work.pool.site, { delayMs })),
  })
  const dispatcher = createDispatcher<Work>({
    settings,
    maxThreads,
    maxConnections: delivery.maxConnections,
    hangMs,
    log,
    now,
    maxConnectionsPerSite: delivery.maxConnectionsPerSite,
    connectionsOf: shaping.connections,
    standingOf: shaping.standing,
    done: finish,
  })
  let isStopping = false
  let outbox: DeliveryResult[] = []

  function capacity(site: string, queueClass: QueueClass): number {
    if (isStopping) return 0
    return Math.max(0, Math.min(roomOf(site, queueClass), roomFor(queueClass) - inFlight.total()))
  }

  function roomFor(queueClass: QueueClass): number {
    return queueClass === TRANSACTIONAL_CLASS ? Math.ceil(maxInFlight * 1.25) : maxInFlight
  }

  function roomOf(site: string, queueClass: QueueClass): number {
    return shaping.room(site, {
      outstanding: inFlight.of(site),
      isUrgent: queueClass === TRANSACTIONAL_CLASS,
    })
  }

  function deliver(tasks: readonly DeliveryTask[]): void {
    const byDomain = new Map<string, DeliveryTask[]>()
    for (const task of tasks) {
      inFlight.enter(flightOf(task, task.site))
      contentMemory.enter(task.projectId, task.source.content)
      const group = byDomain.get(task.domain)
      if (group === undefined) byDomain.set(task.domain, [task])
      else group.push(task)
    }
    for (const [domain, some] of byDomain) {
      if (isStopping) putBackAll(some)
      else route(domain, some)
    }
  }

  function route(domain: string, tasks: readonly DeliveryTask[]): void {
    const known = destinations.find(domain)
    if (known !== undefined) {
      place(tasks, known, false)
      return
    }
    const group: Group = { tasks, since: now(), isDone: false }
    groups.add(group)
    const end = (act: () => void) => {
      groups.delete(group)
      if (!group.isDone) act()
    }
    destinations.look(domain).then(
      (found) => end(() => place(tasks, found, true)),
      (error: unknown) => {
        log.error({ domain, error: describeError(error) }, 'a route could not be found')
        end(() => putBackAll(tasks, FAULT_PAUSE_MS))
      },
    )
  }

  function place(tasks: readonly DeliveryTask[], found: Destination, isNew: boolean): void {
    if (found.kind === 'closed') {
      for (const task of tasks) close(task, found)
      return
    }
    for (const task of tasks) inFlight.leave(flightOf(task, task.site))
    const { site, lookup } = found
    const poolOf = createPoolChooser(poolDeps, found)
    const taken: Work[] = []
    const isFirst = (task: DeliveryTask) =>
      mayJoin(task, site) && !taken.some(({ projectId }) => projectId === task.projectId)
    for (const task of tasks.toSorted((left, right) => left.queueClass - right.queueClass)) {
      if (roomOf(site, task.queueClass) <= 0 && !isFirst(task)) {
        settle(task, returned(task, site))
        continue
      }
      const work = { ...task, pool: poolOf(task), lookup, isOwnLookup: isNew }
      if (history.isHeavy(task.source.content)) compose(work)
      else {
        enter(work)
        taken.push(work)
      }
    }
    dispatcher.add(taken)
  }

  /** What others fill a site with does not keep out the first message of a project. */
  function mayJoin({ projectId }: DeliveryTask, site: string): boolean {
    if (shaping.standing(site) !== 'answered' || shaping.blockedUntil(site) > 0) return false
    return !dispatcher.isBusyFor(site, projectId)
  }

  function enter(work: Work): void {
    const { site } = work.pool
    inFlight.enter(flightOf(work, site))
    shaping.take(site, 1)
  }

  function compose(work: Work): void {
    const delayMs = isStopping ? 0 : composing.add({ ...work, since: now() })
    if (isStopping || delayMs > 0) settle(work, returned(work, work.pool.site, { delayMs }))
  }

  /** There may be no room at the site: so few of them may be a little more than it takes. */
  function addMade(work: Work): void {
    const { site } = work.pool
    if (isStopping || shaping.blockedUntil(site) > 0) {
      releaseComposed(work)
      settle(work, returned(work, site))
      return
    }
    enter(work)
    dispatcher.add([work])
  }

  function releaseComposed({ projectId, composedBytes }: Work): void {
    if (composedBytes !== undefined) composing.release(projectId, composedBytes)
  }

  function reportUnmade(work: Work, reason: string): void {
    const { emailId, pool, lookup, isOwnLookup } = work
    const outcome = withLookup(outcomeOfUncomposed(reason), lookup, isOwnLookup)
    const own = { subject: null, faults: [], startedAt: now() }
    settle(work, { emailId, kind: 'attempted', site: pool.site, outcome, ...own })
  }

  /** What became of a task is known. */
  function settle({ source }: DeliveryTask, report: DeliveryResult): void {
    contentMemory.leave(source.content)
    post(report)
  }

  function close(task: DeliveryTask, found: ClosedDestination): void {
    inFlight.leave(flightOf(task, task.site))
    const { emailId, site } = task
    if (found.site !== null && shaping.blockedUntil(found.site) > 0) {
      settle(task, returned(task, site))
      return
    }
    const outcome = outcomeOfClosed(found)
    const own = { subject: null, faults: [], startedAt: now() }
    settle(task, { emailId, kind: 'attempted', site, outcome, ...own })
    if (found.site !== null) note(found.site, { kind: 'unreachable' }, outcome)
  }

  function putBackAll(tasks: readonly DeliveryTask[], delayMs = 0): void {
    for (const task of tasks) {
      inFlight.leave(flightOf(task, task.site))
      settle(task, returned(task, task.site, { delayMs }))
    }
  }

  /**
   * Of a site at rest it is due at once, for the queue knows when to look there again, and may be
   * told so earlier by an operator.
   */
  function returned(
    { emailId }: DeliveryTask,
    site: string,
    { delayMs = 0, reason: own }: Partial<Returned> = {},
  ): DeliveryResult {
    const blockedUntil = shaping.blockedUntil(site)
    const { pausedUntil } = shaping.restriction(site)
    const rateUntil = pausedUntil === null ? blockedUntil : 0
    const retryAt = Math.max(rateUntil, delayMs > 0 ? now() + delayMs : 0)
    const reason = blockedUntil > 0 ? reasonOf(site) : own
    return { emailId, kind: 'put back', site, retryAt: retryAt > 0 ? retryAt : null, reason }
  }

  function reasonOf(site: string): string {
    const { pausedUntil, cause } = shaping.restriction(site)
    const amount = pausedUntil === null ? 'little' : 'no'
    return `${site} takes ${amount} mail now: ${cause?.text || 'no answer'}`
  }

  function restrictionOf(site: string): { triedAt: number; reason: string } | null {
    const { pausedUntil, messagesPerMinute, cause } = shaping.restriction(site)
    if (cause === null || (pausedUntil === null && messagesPerMinute === null)) return null
    return { triedAt: cause.at, reason: reasonOf(site) }
  }

  function pauseOf(site: string): { until: number; reason: string } | null {
    const { pausedUntil } = shaping.restriction(site)
    return pausedUntil === null ? null : { until: pausedUntil, reason: reasonOf(site) }
  }

  /** In a later turn, so that a caller of `deliver` is not called back while it is at it. */
  function post(report: DeliveryResult): void {
    if (outbox.push(report) === 1) setImmediate(flush)
  }

  function flush(): void {
    const reports = outbox
    outbox = []
    if (reports.length > 0) listener.report(reports)
  }

  function finish(finished: readonly Done<Work>[]): void {
    const reports: DeliveryResult[] = []
    for (const one of finished) {
      const { work, result } = one
      inFlight.leave(flightOf(work, work.pool.site))
      if (result.kind === 'heavy') {
        composeInstead(work, result.reason)
        continue
      }
      contentMemory.leave(work.source.content)
      releaseComposed(work)
      if (result.kind === 'put back') reports.push(returned(work, work.pool.site, result))
      else reports.push(attempted(work, result))
    }
    if (reports.length > 0) listener.report(reports)
  }

  function attempted(work: Work, result: Attempted): DeliveryResult {
    const { emailId, pool, lookup, isOwnLookup } = work
    if (result.brokenTls !== null) brokenTls.add(result.brokenTls)
    learn(work, result.outcome)
    const { subject, faults, startedAt } = result
    const outcome = withLookup(result.outcome, lookup, isOwnLookup)
    const made = { subject, faults, startedAt }
    return { emailId, kind: 'attempted', site: pool.site, outcome, ...made }
  }

  /** What takes too long, or ended its thread (`reason`), is made by itself. */
  function composeInstead(work: Work, reason: string | null): void {
    const { content } = work.source
    const isOnceTooOften = reason !== null && history.noteEnd(content, reason)
    if (reason === null) history.noteTime(content, null)
    if (isOnceTooOften) reportUnmade(work, reason)
    else compose(work)
  }

  function learn({ pool }: Work, outcome: AttemptOutcome): void {
    const { site } = pool
    const report = siteObservationOf(outcome)
    if (report === null) return
    const local = outcome.address?.includes(':') ? pool.source.ipv6 : pool.source.ipv4
    const isListed = report.kind === 'answered' && report.action === 'block' && local !== undefined
    const hasOther = isListed && sources.refuse(site, local)
    note(site, hasOther ? { ...report, action: 'none' } : report, outcome)
  }

  function note(site: string, report: SiteObservation, outcome: AttemptOutcome): void {
    if (!shaping.record(site, report, outcomeText(outcome))) return
    const until = new Date(shaping.blockedUntil(site)).toISOString()
    const fact = { site, until, reply: outcome.reply?.text ?? outcome.error }
    if (report.kind === 'unreachable') log.warn(fact, 'a destination cannot be reached')
    else if (report.kind === 'answered' && report.action === 'suspend')
      log.error(fact, 'a destination refuses all mail from here')
    else log.warn(fact, 'a destination wants less mail from here')
    recall(site)
  }

  function recall(site: string): void {
    dispatcher.recall(site)
    composing.recall(site)
  }

  function statusOf(site: string): SiteStatus {
    const { pausedUntil, ...restriction } = shaping.restriction(site)
    return {
      site,
      connections: dispatcher.connectionsOf(site),
      maxConnections: shaping.connections(site),
      inFlight: inFlight.of(site),
      blockedUntil: pausedUntil,
      ...restriction,
    }
  }

  async function progressOf(emailId: string): Promise<DeliveryProgress | undefined> {
    for (const { tasks, since } of groups) {
      const task = tasks.find((one) => one.emailId === emailId)
      if (task !== undefined) return { site: task.site, step: 'dns', peer: null, since }
    }
    const isIt = (work: Work) => work.emailId === emailId
    const composed = composing.find(isIt)
    if (composed === undefined) return dispatcher.progressOf(isIt)
    const { pool, since = now() } = composed
    return { site: pool.site, step: 'waiting', peer: null, since }
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    for (const group of groups) {
      group.isDone = true
      putBackAll(group.tasks)
    }
    const helpers = [composing.stop(), previews.stop(), checks.stop()]
    await Promise.all([...helpers, dispatcher.stop(graceMs)])
    flush()
  }

  return {
    capacity,
    projectCapacity: (projectId, queueClass) => inFlight.roomOf(projectId, roomFor(queueClass)),
    siteOf: destinations.siteOf,
    blockedUntil: shaping.blockedUntil,
    pauseOf,
    restrictionOf,
    deliver,
    mayBring: contentMemory.mayBring,
    recall,
    preview: previews.look,
    checkTemplate: checks.check,
    inFlight: () => inFlight.total() + composing.waiting(),
    sites: () => [...new Set([...shaping.sites(), ...inFlight.sites()])].map(statusOf),
    liftSite: shaping.lift,
    progressOf,
    stop,
  }
}

function flightOf({ projectId }: DeliveryTask, site: string): Flight {
  return { site, projectId }
}
