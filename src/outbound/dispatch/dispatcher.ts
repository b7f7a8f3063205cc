/**
 * On the main thread: assigns deliveries to delivery threads. A delivery waits until its site has a
 * connection allocated, then goes to the thread with the least work for each of the site's
 * connections. It comes back exactly once, through `done`.
 *
 * When a thread ends: messages that a server accepted are reported as delivered. The delivery whose
 * message was being composed comes back as heavy, with all waiting ones that share its content. The
 * others go to another thread; a delivery that has lost its thread three times is put back.
 */
import type { Now } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Delivery } from '../delivery.ts'
import { outcomeOfLostThread } from '../outcomes.ts'
import type { DeliveryThread, FromThread, TaskResult } from '../protocol.ts'
import { type AllocationChange, createAllocations } from '../sites/allocations.ts'
import { createBudgets } from '../sites/budgets.ts'
import type { Standing } from '../sites/shaping.ts'
import type { SiteQueue, SiteQueues } from '../sites/site-queues.ts'
import type { DeliveryProgress } from '../sites/site-status.ts'
import { createStarvedSites } from '../sites/starved-sites.ts'
import { createThreadWork } from '../thread-work.ts'
import { createThreads, type ThreadEnd, type ThreadsOptions } from '../threads.ts'
import { createProgressQueries } from './progress-queries.ts'

export type Attempted = Extract<TaskResult, { kind: 'attempted' }>

/** `delayMs`: how long it must wait at least before it is claimed again. */
export type PutBack = { kind: 'put back'; delayMs: number; reason?: string }

/** `reason`: why a thread ended while it composed the message; null if none did. */
export type Heavy = { kind: 'heavy'; reason: string | null }

type End = Attempted | PutBack | Heavy

export type DispatcherDeps = {
  settings: ThreadsOptions['settings']
  maxThreads: number
  maxConnections: number
  maxConnectionsPerSite: number
  hangMs: number
  log: Log
  now: Now
  queues: SiteQueues
  connectionsOf(site: string): number
  standingOf(site: string): Standing
  done(ends: ReadonlyMap<Delivery, Attempted | PutBack | Heavy>): void
  /** For tests. */
  createThreads?: typeof createThreads
}

type Dispatcher = {
  add(deliveries: readonly Delivery[]): void
  /** Puts back the deliveries for a site that have not begun. */
  recall(site: string): void
  /** How many deliveries it has. */
  count(): number
  /** How many connections are allocated to the site. */
  connectionsOf(site: string): number
  /** The progress of the delivery that `test` finds; undefined if there is none. */
  progressOf(test: (delivery: Delivery) => boolean): Promise<DeliveryProgress | undefined>
  stop(graceMs: number): Promise<void>
}

/** The most deliveries that `capacity` lets the queue claim, and the reserve of urgent mail. */
const MAX_PER_THREAD = 650
/** Another thread starts when each has this many deliveries. */
const BUSY_DELIVERIES = 40
/** With this many deliveries per connection, connections of a site move to idle threads. */
const BUSY_SITE_DELIVERIES = 4
const MAX_LOST_THREADS = 3
const MAX_TASK = 2 ** 31 - 1
const AFTER_CRASH_MS = 60_000
/** The server has not greeted yet, and other mail had to wait for it. */
const AFTER_CUT_MS = 60_000
/** A composed message that was lost with its thread is composed again. */
const AFTER_LOSS_MS = 1_000
const SWEEP_EVERY_MS = 15_000
/** Deliveries that wait longer for a connection are put back, so that others can take their place. */
const MAX_STARVED_MS = 30_000
const AFTER_STARVED_MS = 30_000

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { connectionsOf, done, now, queues } = deps
  const deliveries = new Map<number, Delivery>()
  const recalled = new Set<string>()
  /** Sites with deliveries that no thread has yet. `starvedSites`: those without a connection. */
  const unserved = new Set<string>()
  const loads = new Map<DeliveryThread, number>()
  const allocations = createAllocations<DeliveryThread>(deps.maxConnections)
  const budgets = createBudgets({ ...deps, maxPerSite: deps.maxConnectionsPerSite })
  const work = createThreadWork()
  const starvedSites = createStarvedSites({
    allocations,
    budgets,
    queueOf: queues.of,
    serve,
    lower: (site, connections) => send(allocations.lower(site, connections)),
    flush,
    now,
  })
  const progressQueries = createProgressQueries()
  const hangMs = () => deps.hangMs
  const start = deps.createThreads ?? createThreads
  const threads = start({ ...deps, name: 'delivery', hangMs, received, ended })
  const sweeper = setInterval(sweep, SWEEP_EVERY_MS).unref()
  let lastTask = 0
  let isStopping = false

  /** Task numbers fit 32 bits; the previous task of a number ended long ago. */
  function nextTask(): number {
    lastTask = (lastTask % MAX_TASK) + 1
    return lastTask
  }

  function add(added: readonly Delivery[]): void {
    const sites = new Set<string>()
    for (const delivery of added) {
      delivery.task = nextTask()
      delivery.since = now()
      deliveries.set(delivery.task, delivery)
      queues.add(delivery)
      sites.add(delivery.pool.site)
    }
    for (const site of sites) recalled.delete(site)
    pump(sites)
  }

  function pump(sites: Iterable<string>): void {
    for (const site of sites) if (!starvedSites.since.has(site)) serve(site)
    if (starvedSites.since.size > 0) starvedSites.serveAll()
    flush()
  }

  function flush(): void {
    for (const { thread, message, transfer } of work.takeMessages())
      thread.postMessage(message, transfer)
  }

  /** Gives a site the free connections it needs, and its deliveries to the threads that have them. */
  function serve(site: string): void {
    const queue = queues.of(site)
    if (queue.waiting.size() > 0) startThreads()
    if (threads.list().length === 0) putBackWaiting(site, AFTER_CRASH_MS)
    else serveQueue(site, queue)
  }

  function startThreads(): void {
    const isBusy = () => deliveries.size > BUSY_DELIVERIES * threads.list().length
    while (isBusy() || threads.list().length === 0) {
      if (threads.start() === undefined) return
    }
  }

  function serveQueue(site: string, queue: SiteQueue): void {
    const limit = connectionsOf(site)
    send(allocations.lower(site, limit))
    account(site, queue)
    const needs = Math.min(limit, queue.count, allocations.total(site) + budgets.capacity(site))
    send(allocations.raise({ site, needs, threads: byLoad() }))
    account(site, queue)
    if (queue.count > limit * BUSY_SITE_DELIVERIES)
      send(allocations.rebalance(site, threads.list()))
    assign(site, queue)
    if (queue.waiting.size() > 0) unserved.add(site)
    else unserved.delete(site)
    const isStarved = queue.waiting.size() > 0 && allocations.total(site) === 0
    if (isStarved !== starvedSites.since.has(site)) starvedSites.set(site, isStarved)
  }

  /** Updates the budgets that the site shares with others. */
  function account(site: string, queue: SiteQueue): void {
    const connections = allocations.total(site)
    const { addresses, hasGreeted, projects } = queue
    const [projectId = null] = projects.size === 1 ? projects.keys() : []
    const isCut = !hasGreeted && starvedSites.isCut(site)
    const standing = isCut ? 'silent' : deps.standingOf(site)
    budgets.update(site, { addresses, projectId, hasGreeted, standing }, connections)
    if (connections === 0) queue.servedSince = null
    else queue.servedSince ??= now()
  }

  function assign(site: string, { waiting, load }: SiteQueue): void {
    for (let next = waiting.peek(); next !== undefined; next = waiting.peek()) {
      const thread = allocations.choose(site, (one) => load.get(one) ?? 0)
      if (thread === undefined || loadOf(thread) >= MAX_PER_THREAD) break
      waiting.shift()
      next.thread = thread
      load.set(thread, (load.get(thread) ?? 0) + 1)
      loads.set(thread, loadOf(thread) + 1)
      work.add(thread, next)
    }
  }

  function send(changes: AllocationChange<DeliveryThread>[]): void {
    for (const { thread, site, connections } of changes)
      thread.postMessage({ type: 'allocate', site, connections })
  }

  function received(thread: DeliveryThread, message: FromThread): void {
    switch (message.type) {
      case 'results':
        finish(thread, message.results)
        return
      case 'allocated':
        allocations.confirm(thread, message.site, message.connections)
        account(message.site, queues.of(message.site))
        // The site may still seem to need the connection: its results come a moment later.
        if (starvedSites.since.size > 0) starvedSites.serveAll()
        pump([...unserved, message.site])
        return
      case 'greeted':
        recordGreeting(message.site)
        return
      case 'progress':
        progressQueries.answered(message)
        return
      default:
    }
  }

  function finish(thread: DeliveryThread, results: readonly TaskResult[]): void {
    const finished = new Map<Delivery, End>()
    const sites = new Set<string>()
    for (const result of results) {
      const delivery = deliveries.get(result.task)
      if (delivery === undefined || delivery.thread !== thread) continue
      const { site } = delivery.pool
      sites.add(site)
      unassign(delivery)
      const end = endOf(delivery, result)
      if (end === null) queues.of(site).waiting.push(delivery)
      else finished.set(take(delivery), end)
    }
    if (finished.size > 0) done(finished)
    for (const site of sites) updateGreeted(site)
    if (!isStopping) pump(sites.union(unserved))
  }

  /** Returns null if the delivery waits for another connection. */
  function endOf(delivery: Delivery, result: TaskResult): End | null {
    switch (result.kind) {
      case 'attempted':
        return result
      case 'heavy':
        return { kind: 'heavy', reason: null }
      case 'cut':
        return { kind: 'put back', delayMs: AFTER_CUT_MS, reason: result.reason }
      case 'put back': {
        const isOver = isStopping || delivery.composed !== undefined
        return isOver || recalled.has(delivery.pool.site) ? { kind: 'put back', delayMs: 0 } : null
      }
    }
  }

  function recordGreeting(site: string): void {
    const queue = queues.of(site)
    queue.hasGreeted = true
    starvedSites.forgetCuts(site)
    account(site, queue)
    if (!isStopping) pump([site])
  }

  /** Updates from the site's latest results whether it sends greetings. */
  function updateGreeted(site: string): void {
    const standing = deps.standingOf(site)
    if (standing !== 'new') queues.of(site).hasGreeted = standing === 'replied'
  }

  /** Takes the delivery from its thread. */
  function unassign(delivery: Delivery): void {
    const { thread, pool } = delivery
    if (thread === null) return
    const { load } = queues.of(pool.site)
    load.set(thread, (load.get(thread) ?? 0) - 1)
    loads.set(thread, loadOf(thread) - 1)
    work.release(thread, delivery)
    delivery.thread = null
  }

  function take(delivery: Delivery): Delivery {
    deliveries.delete(delivery.task)
    queues.remove(delivery)
    return delivery
  }

  function ended(thread: DeliveryThread, { composing, accepted, reason }: ThreadEnd): void {
    const current = deliveries.get(composing)
    const blamed = current?.composed === undefined ? current?.source.content.id : undefined
    const sites = new Set(allocations.sites())
    allocations.drop(thread)
    work.drop(thread)
    const lost: Delivery[] = []
    const lostComposed: Delivery[] = []
    const delivered: Delivery[] = []
    for (const delivery of deliveries.values()) {
      if (delivery.thread !== thread) continue
      const { task, pool } = delivery
      sites.add(pool.site)
      unassign(delivery)
      delivery.lostThreads++
      if (accepted.has(task)) delivered.push(delivery)
      // `stop` puts back the deliveries without a result.
      else if (isStopping) continue
      else if (delivery.composed !== undefined) lostComposed.push(delivery)
      else if (delivery.lostThreads >= MAX_LOST_THREADS && task !== composing) lost.push(delivery)
      else queues.of(pool.site).waiting.push(delivery)
    }
    for (const [, { load }] of queues.entries()) load.delete(thread)
    loads.delete(thread)
    reportDelivered(delivered)
    if (isStopping) return
    putBack(lost, AFTER_CRASH_MS)
    putBack(lostComposed, AFTER_LOSS_MS)
    if (blamed !== undefined) setAside(blamed, { composing, reason })
    pump(sites.union(unserved))
  }

  /** Makes the delivery threads stop composing messages of the content. */
  function setAside(content: string, { composing, reason }: { composing: number; reason: string }) {
    for (const thread of threads.list()) thread.postMessage({ type: 'set aside', content })
    const heavy = new Map<Delivery, Heavy>()
    for (const [, { waiting }] of queues.entries()) {
      for (const delivery of waiting.takeAll()) {
        if (delivery.source.content.id !== content) waiting.push(delivery)
        else {
          const own = delivery.task === composing ? reason : null
          heavy.set(take(delivery), { kind: 'heavy', reason: own })
        }
      }
    }
    done(heavy)
  }

  /** The thread of these deliveries ended before it could report that they were accepted. */
  function reportDelivered(list: readonly Delivery[]): void {
    if (list.length === 0) return
    const made = { subject: null, faults: [], startedAt: now(), brokenTls: null }
    const ends = new Map<Delivery, Attempted>()
    for (const delivery of list) {
      const outcome = outcomeOfLostThread(delivery.pool.mode)
      ends.set(take(delivery), { task: delivery.task, kind: 'attempted', outcome, ...made })
    }
    done(ends)
  }

  function putBack(list: readonly Delivery[], delayMs: number): void {
    if (list.length === 0) return
    done(new Map(list.map((one) => [take(one), { kind: 'put back', delayMs }])))
  }

  function putBackWaiting(site: string, delayMs: number): void {
    unserved.delete(site)
    starvedSites.set(site, false)
    putBack(queues.of(site).waiting.takeAll(), delayMs)
  }

  function recall(site: string): void {
    recalled.add(site)
    putBackWaiting(site, 0)
    for (const thread of queues.of(site).load.keys()) thread.postMessage({ type: 'recall', site })
  }

  /** Sites that have been idle for a while lose their connections and are forgotten. */
  function sweep(): void {
    for (const site of starvedSites.listSince(MAX_STARVED_MS))
      putBackWaiting(site, AFTER_STARVED_MS)
    const before = now() - deps.settings.idleMs
    for (const [site, { count, resolving, idleSince }] of queues.entries()) {
      if (count + resolving > 0 || idleSince > before) continue
      send(allocations.lower(site, 0))
      if (allocations.total(site) > 0) continue
      queues.delete(site)
      budgets.forget(site)
      recalled.delete(site)
    }
    pump([...unserved])
  }

  function loadOf(thread: DeliveryThread): number {
    return loads.get(thread) ?? 0
  }

  function byLoad(): DeliveryThread[] {
    return [...threads.list()].sort((left, right) => loadOf(left) - loadOf(right))
  }

  async function progressOf(
    test: (delivery: Delivery) => boolean,
  ): Promise<DeliveryProgress | undefined> {
    const delivery = deliveries.values().find(test)
    if (delivery === undefined) return undefined
    const { thread, task, since, pool } = delivery
    const waiting = { site: pool.site, step: 'waiting', since, peer: null } as const
    if (thread === null) return waiting
    const current = await progressQueries.ask(thread, task)
    if (current === null) return undefined
    // A thread that does not answer is composing another message.
    if (current === undefined || current.step === 'waiting') return waiting
    return { ...current, site: pool.site }
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    clearInterval(sweeper)
    starvedSites.stop()
    for (const [site] of queues.entries()) putBackWaiting(site, 0)
    await threads.stop(graceMs)
    const rest = [...deliveries.values()]
    for (const delivery of rest) unassign(delivery)
    putBack(rest, 0)
  }

  return {
    add,
    recall,
    count: () => deliveries.size,
    connectionsOf: allocations.total,
    progressOf,
    stop,
  }
}
