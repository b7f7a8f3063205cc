/**
 * The path of a delivery through the main thread. Its destination is resolved; a message that takes
 * long is composed in a composing thread; then the dispatcher gives the delivery to a delivery
 * thread. Each task has exactly one result.
 */
import { MINUTE_MS, type Now } from '../base/clock.ts'
import { type QueueClass, TRANSACTIONAL_CLASS } from '../base/queue-class.ts'
import type { Config } from '../config/config.ts'
import type { AttemptOutcome } from './attempt.ts'
import { createComposing } from './composing/composing.ts'
import { createContentHistory, createContentMemory } from './composing/contents.ts'
import {
  createOutbox,
  type Delivery,
  type DeliveryResult,
  type DeliveryTask,
  putBackResult,
  unsentResult,
} from './delivery.ts'
import { createDispatcher } from './dispatch/dispatcher.ts'
import {
  outcomeOfClosed,
  outcomeOfUncomposed,
  outcomeText,
  siteObservationOf,
  withLookup,
  withoutSecrets,
} from './outcomes.ts'
import type { TaskResult, TransferableMessage } from './protocol.ts'
import type { ClosedDestination, Destination } from './routing/destination.ts'
import {
  createBrokenTls,
  createPoolChooser,
  createResolving,
  createSourceChooser,
  type Destinations,
} from './routing/destinations.ts'
import type { SiteObservation, SiteShaping } from './sites/shaping.ts'
import type { SiteQueues } from './sites/site-queues.ts'
import type { DeliveryProgress } from './sites/site-status.ts'
import type { MailOwner } from './sites/starved-sites.ts'
import type { ThreadsOptions } from './threads.ts'

type DeliveriesDeps = Pick<ThreadsOptions, 'settings' | 'maxThreads' | 'log' | 'counters'> & {
  config: Config['delivery']
  destinations: Destinations
  shaping: SiteShaping
  queues: SiteQueues
  receivedDomains: ReadonlySet<string>
  hangMs: number
  restMs: number
  now: Now
  listener: { finished(results: DeliveryResult[]): void }
}

const MAX_PER_THREAD = 500
/**
 * How many sites with mail of one owner may wait for a connection when none is free. Sites that
 * wait for the limit of their own server do not count.
 */
const MAX_STARVED_SITES = 20
const MAX_STARVED_TRANSACTIONAL = 40
/** Multiplies `MAX_STARVED_SITES` when the sites that wait for the limit of their own server count, too. */
const STARVED_AT_SERVERS = 5
/**
 * Multiplies `MAX_STARVED_SITES` for the domains of the owner that are looked up: each may become a site without
 * a connection.
 */
const STARVED_RESOLVING = 3
/** Transactional mail may exceed the total limit by this factor. */
const TRANSACTIONAL_RESERVE = 1.25
/** How long a task waits after an error of this program until it may be claimed again. */
const FAULT_PAUSE_MS = MINUTE_MS

export function createDeliveries(deps: DeliveriesDeps) {
  const { config, destinations, shaping, queues, receivedDomains, listener, log, now } = deps
  const sources = createSourceChooser(config.sourceAddresses, now)
  const brokenTls = createBrokenTls(now)
  const poolDeps = { shaping, sources, brokenTls, receivedDomains }
  const contentMemory = createContentMemory()
  const history = createContentHistory()
  const outbox = createOutbox((results) => listener.finished(results))
  const resolving = createResolving({
    ...{ destinations, log, now },
    resolved: (tasks, destination) => dispatch(tasks, destination, true),
    failed: (tasks) => putBackUnresolved(tasks, FAULT_PAUSE_MS),
  })
  const composing = createComposing({
    ...deps,
    history,
    composed: addComposed,
    failed: failUncomposed,
    putBack,
  })
  const dispatcher = createDispatcher({
    ...deps,
    ...{ maxConnections: config.maxConnections, maxPerSite: config.maxConnectionsPerSite },
    connectionsOf: shaping.connections,
    connectionsFor: shaping.connectionsFor,
    standingOf: shaping.standing,
    done: finish,
  })
  let isStopping = false

  /** How many emails of a class may be claimed for a site now. */
  function capacity(site: string, queueClass: QueueClass): number {
    if (isStopping) return 0
    const total = maxInFlight(queueClass) - queues.total()
    return Math.max(0, Math.min(siteCapacity(site, queueClass), total))
  }

  function maxInFlight(queueClass: QueueClass): number {
    const max = deps.maxThreads * MAX_PER_THREAD
    return queueClass === TRANSACTIONAL_CLASS ? Math.ceil(max * TRANSACTIONAL_RESERVE) : max
  }

  function siteCapacity(site: string, queueClass: QueueClass): number {
    const isUrgent = queueClass === TRANSACTIONAL_CLASS
    return shaping.capacity(site, { outstanding: queues.count(site), isUrgent })
  }

  function starvedCapacity(owner: MailOwner): number {
    const isUrgent = owner.queueClass === TRANSACTIONAL_CLASS
    const max = isUrgent ? MAX_STARVED_TRANSACTIONAL : MAX_STARVED_SITES
    const { all, limited } = dispatcher.countStarved(owner)
    const left = Math.min(
      max - (all - limited),
      max * STARVED_AT_SERVERS - all,
      max * STARVED_RESOLVING - resolving.count(owner),
    )
    return Math.max(0, left)
  }

  function projectCapacity(projectId: string, queueClass: QueueClass): number {
    return queues.projectCapacity(projectId, maxInFlight(queueClass))
  }

  function deliver(tasks: readonly DeliveryTask[]): void {
    for (const task of tasks) {
      queues.enterResolving(task)
      contentMemory.enter(task.projectId, task.source.content)
    }
    for (const [domain, some] of Map.groupBy(tasks, (task) => task.domain)) {
      const known = destinations.find(domain)
      if (isStopping) putBackUnresolved(some)
      else if (known !== undefined) dispatch(some, known, false)
      else resolving.add(domain, some)
    }
  }

  /** `isOwnLookup`: whether the destination was looked up for these tasks. */
  function dispatch(
    tasks: readonly DeliveryTask[],
    destination: Destination,
    isOwnLookup: boolean,
  ): void {
    if (destination.kind === 'closed') {
      for (const task of tasks) close(task, destination, isOwnLookup)
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
        settle(task, putBackResult(deps, task, { site }))
        continue
      }
      const one: Delivery = {
        ...task,
        pool: poolOf(task),
        lookup,
        isOwnLookup,
        since: now(),
        task: 0,
        thread: null,
        lostThreads: 0,
      }
      if (history.isHeavy(task.source.content)) compose(one)
      else {
        shaping.take(site, 1)
        ready.push(one)
      }
    }
    dispatcher.add(ready)
  }

  /** A project without mail at a site may add one email, even if other projects fill the site. */
  function mayJoin({ projectId }: DeliveryTask, site: string): boolean {
    if (shaping.standing(site) !== 'replied' || shaping.blockedUntil(site) > 0) return false
    return queues.find(site)?.projects.has(projectId) !== true
  }

  function compose(one: Delivery): void {
    one.since = now()
    const delayMs = isStopping ? 0 : composing.add(one)
    if (isStopping || delayMs > 0) putBack(one, delayMs)
  }

  /**
   * Adds a composed message even if its site is full by now, because there are few such messages.
   */
  function addComposed(one: Delivery, message: TransferableMessage): void {
    one.composed = message
    one.composedBytes = message.octets.length
    const { site } = one.pool
    if (isStopping || shaping.blockedUntil(site) > 0) {
      composing.release(one.projectId, one.composedBytes)
      putBack(one)
      return
    }
    shaping.take(site, 1)
    dispatcher.add([one])
  }

  function failUncomposed(one: Delivery, reason: string): void {
    const outcome = withLookup(outcomeOfUncomposed(reason), one.lookup, one.isOwnLookup)
    settle(one, unsentResult(one, one.pool.site, { outcome, endedAt: now() }))
  }

  function close(task: DeliveryTask, closed: ClosedDestination, isOwnLookup: boolean): void {
    queues.leaveResolving(task)
    const { site } = task
    if (closed.site !== null && shaping.blockedUntil(closed.site) > 0) {
      settle(task, putBackResult(deps, task, { site }))
      return
    }
    const outcome = outcomeOfClosed(closed, isOwnLookup)
    settle(task, unsentResult(task, site, { outcome, endedAt: now() }))
    if (closed.site !== null) observe(closed.site, { kind: 'unreachable' }, outcome)
  }

  function putBackUnresolved(tasks: readonly DeliveryTask[], delayMs = 0): void {
    for (const task of tasks) {
      queues.leaveResolving(task)
      settle(task, putBackResult(deps, task, { site: task.site, delayMs }))
    }
  }

  function putBack(one: Delivery, delayMs = 0): void {
    settle(one, putBackResult(deps, one, { site: one.pool.site, delayMs }))
  }

  /** Ends a task that no thread has. */
  function settle({ source }: DeliveryTask, result: DeliveryResult): void {
    contentMemory.leave(source.content)
    outbox.add(result)
  }

  function finish(ended: ReadonlyMap<Delivery, TaskResult>): void {
    const results: DeliveryResult[] = []
    for (const [one, result] of ended) {
      if (result.kind === 'heavy') {
        composeInstead(one, result.reason)
        continue
      }
      contentMemory.leave(one.source.content)
      if (one.composedBytes !== undefined) composing.release(one.projectId, one.composedBytes)
      const { site } = one.pool
      if (result.kind === 'attempted') results.push(attempted(one, result))
      else results.push(putBackResult(deps, one, { ...result, site }))
    }
    if (results.length > 0) listener.finished(results)
  }

  function attempted(
    one: Delivery,
    result: Extract<TaskResult, { kind: 'attempted' }>,
  ): DeliveryResult {
    const { emailId, pool, lookup, isOwnLookup } = one
    if (result.brokenTls !== null) brokenTls.add(result.brokenTls)
    const shown = withoutSecrets(result.outcome, one.secrets)
    observeOutcome(one, shown)
    const { subject, faults } = result
    const outcome = withLookup(shown, lookup, isOwnLookup)
    const startedAt = result.startedAt - (outcome.durationMs - result.outcome.durationMs)
    return { emailId, kind: 'attempted', site: pool.site, outcome, subject, faults, startedAt }
  }

  /** Composes a message that took too long, or ended its thread (`reason`), in a composing thread. */
  function composeInstead(one: Delivery, reason: string | undefined): void {
    const { content } = one.source
    const isLimitReached = reason !== undefined && history.recordThreadEnd(content, reason)
    if (reason === undefined) history.recordTime(content, null)
    if (isLimitReached) failUncomposed(one, reason)
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
    if (observed.kind === 'unreachable') log.warn(fact, 'a site cannot be reached')
    else if (observed.kind === 'replied' && observed.action === 'suspend')
      log.error(fact, 'a site refuses all mail from this server')
    else log.warn(fact, 'a site limits mail from this server')
    recall(site)
  }

  function recall(site: string): void {
    dispatcher.recall(site)
    composing.recall(({ pool }) => pool.site === site)
  }

  function withdraw(groups: ReadonlySet<string>): void {
    const isWithdrawn = ({ group }: DeliveryTask) => group != null && groups.has(group)
    putBackUnresolved(resolving.take(isWithdrawn))
    composing.recall(isWithdrawn)
    dispatcher.withdraw(isWithdrawn)
  }

  async function progressOf(emailId: string): Promise<DeliveryProgress | undefined> {
    const unresolved = resolving.find(emailId)
    if (unresolved !== undefined)
      return { site: unresolved.task.site, step: 'dns', peer: null, since: unresolved.since }
    const isThisEmail = (one: DeliveryTask) => one.emailId === emailId
    const waiting = composing.find(isThisEmail)
    if (waiting === undefined) return dispatcher.progressOf(isThisEmail)
    return { site: waiting.pool.site, step: 'waiting', peer: null, since: waiting.since }
  }

  let stopped: Promise<void> | undefined

  /** A second call waits for the end of the first. */
  function stop(graceMs: number): Promise<void> {
    stopped ??= end(graceMs)
    return stopped
  }

  async function end(graceMs: number): Promise<void> {
    isStopping = true
    putBackUnresolved(resolving.take(() => true))
    await Promise.all([composing.stop(), dispatcher.stop(graceMs)])
    outbox.flush()
  }

  return {
    ...{ capacity, starvedCapacity, projectCapacity, deliver, recall, withdraw, progressOf, stop },
    hasMemoryFor: contentMemory.hasSpace,
    connectionsOf: dispatcher.connectionsOf,
    lacksConnection: dispatcher.lacksConnection,
    inFlight: () => queues.total() + composing.waiting(),
    threads: dispatcher.threads,
  }
}
