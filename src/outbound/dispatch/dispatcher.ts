/**
 * On the main thread: assigns deliveries to delivery threads. A delivery waits until its site has a
 * connection allocated, then goes to the thread with the least work per connection of the site. It
 * comes back exactly once, through `done`.
 *
 * When a thread ends, the delivery whose message it was composing comes back as heavy, with all
 * waiting ones that share its content; `sortLost` decides about the others.
 */
import type { Delivery } from '../delivery.ts'
import type { DeliveryThread, FromThread, TaskResult } from '../protocol.ts'
import { type ConnectionsDeps, createConnections } from '../sites/connections.ts'
import type { SiteQueue } from '../sites/site-queues.ts'
import { createProgressQueries, type DeliveryProgress } from '../sites/site-status.ts'
import type { MailOwner } from '../sites/starved-sites.ts'
import { createThreadWork } from '../thread-messages.ts'
import {
  createThreads,
  resultOfAccepted,
  sortLost,
  type ThreadEnd,
  type ThreadsOptions,
} from '../threads.ts'

/** `busy`: the threads that have deliveries; `waiting`: the deliveries that no thread has. */
export type ThreadLoad = { running: number; busy: number; waiting: number }

export type DispatcherDeps = Pick<ThreadsOptions, 'settings' | 'maxThreads' | 'log' | 'counters'> &
  Omit<ConnectionsDeps, 'serve' | 'flush'> & {
    hangMs: number
    done(ended: ReadonlyMap<Delivery, TaskResult>): void
    /** Replaces the real threads; for tests. */
    createThreads?: typeof createThreads
  }

type Dispatcher = {
  add(deliveries: readonly Delivery[]): void
  /** Puts back the deliveries for a site that have not begun. */
  recall(site: string): void
  /** Takes back the deliveries that match, except those whose message is being written. */
  withdraw(test: (delivery: Delivery) => boolean): void
  threads(): ThreadLoad
  /** How many deliveries the dispatcher has. */
  count(): number
  /** How many connections are allocated to the site. */
  connectionsOf(site: string): number
  /** Whether the site has no connection, and none is free for mail of the project there. */
  lacksConnection(site: string, projectId: string): boolean
  /**
   * How many sites wait for a connection and have mail of this owner first in line:
   * `starved-sites.ts`.
   */
  countStarved(owner: MailOwner): { all: number; limited: number }
  /** The progress of the delivery that `test` finds; undefined if there is none. */
  progressOf(test: (delivery: Delivery) => boolean): Promise<DeliveryProgress | undefined>
  stop(graceMs: number): Promise<void>
}

/**
 * The most deliveries with one thread: more than the queue may claim for each thread (`capacity`), even
 * with the reserve of urgent mail.
 */
const MAX_PER_THREAD = 650
/** Another thread starts when each has this many deliveries. */
const BUSY_DELIVERIES = 40
const MAX_TASK = 2 ** 31 - 1
const AFTER_CRASH_MS = 60_000
/**
 * How long a delivery waits after the thread that had its composed message has ended; then it is composed
 * again.
 */
const AFTER_LOSS_MS = 1_000
const SITE_CHECK_MS = 15_000
/** Deliveries that wait longer for a connection are put back, so that others can take their place. */
const MAX_STARVED_MS = 30_000
const AFTER_STARVED_MS = 30_000

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { done, now, queues } = deps
  const deliveries = new Map<number, Delivery>()
  const recalled = new Set<string>()
  /** Sites with deliveries that no thread has yet. */
  const unserved = new Set<string>()
  const work = createThreadWork()
  const connections = createConnections({ ...deps, serve, flush })
  const { starvedSites } = connections
  const progressQueries = createProgressQueries()
  const hangMs = () => deps.hangMs
  const start = deps.createThreads ?? createThreads
  const threads = start({ ...deps, name: 'delivery', hangMs, received, ended })
  const siteTimer = setInterval(checkSites, SITE_CHECK_MS).unref()
  let lastTask = 0
  let isStopping = false

  function add(added: readonly Delivery[]): void {
    const sites = new Set<string>()
    for (const delivery of added) {
      // Task numbers fit 32 bits; the previous task with the same number ended long ago.
      lastTask = (lastTask % MAX_TASK) + 1
      delivery.task = lastTask
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
    if (starvedSites.since.size > 0) starvedSites.serveSoon()
    flush()
  }

  function flush(): void {
    for (const { thread, message, transfer } of work.takeMessages())
      thread.postMessage(message, transfer)
  }

  /**
   * Allocates free connections to a site, then assigns its deliveries to the threads that have
   * them.
   */
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
    connections.allocate(site, queue, byLoad())
    assign(site, queue)
    const isWaiting = queue.waiting.size() > 0
    if (isWaiting) unserved.add(site)
    else unserved.delete(site)
    const isStarved = isWaiting && connections.total(site) === 0
    if (isStarved !== starvedSites.since.has(site)) starvedSites.set(site, isStarved)
  }

  function assign(site: string, { waiting, load }: SiteQueue): void {
    for (let next = waiting.peek(); next !== undefined; next = waiting.peek()) {
      const thread = connections.choose(site, (one) => load.get(one) ?? 0)
      if (thread === undefined || work.count(thread) >= MAX_PER_THREAD) break
      waiting.shift()
      next.thread = thread
      load.set(thread, (load.get(thread) ?? 0) + 1)
      work.add(thread, next)
    }
  }

  function received(thread: DeliveryThread, message: FromThread): void {
    switch (message.type) {
      case 'results':
        finish(thread, message.results)
        return
      case 'allocated':
        if (!connections.confirm(thread, message.site, message.connections)) return
        // This site may still seem to need the connection, because its results arrive a moment
        // later.
        if (starvedSites.since.size > 0) starvedSites.serveAll()
        pump([...unserved, message.site])
        return
      case 'greeted':
        connections.greeted(message.site)
        if (!isStopping) pump([message.site])
        return
      case 'progress':
        progressQueries.received(message)
        return
      default:
    }
  }

  function finish(thread: DeliveryThread, results: readonly TaskResult[]): void {
    const ended = new Map<Delivery, TaskResult>()
    const sites = new Set<string>()
    for (const result of results) {
      const delivery = deliveries.get(result.task)
      if (delivery === undefined || delivery.thread !== thread) continue
      const { site } = delivery.pool
      sites.add(site)
      unassign(delivery)
      if (delivery.isWithdrawn && result.kind !== 'attempted')
        ended.set(take(delivery), { task: result.task, kind: 'put back', delayMs: 0 })
      else if (mayWait(delivery, result)) queues.of(site).waiting.push(delivery)
      else ended.set(take(delivery), result)
    }
    if (ended.size > 0) done(ended)
    for (const site of sites) updateGreeted(site)
    if (!isStopping) pump(sites.union(unserved))
  }

  /** Whether a delivery that its thread has put back waits here for another connection. */
  function mayWait({ composed, pool }: Delivery, result: TaskResult): boolean {
    if (result.kind !== 'put back' || result.delayMs !== undefined) return false
    return !isStopping && composed === undefined && !recalled.has(pool.site)
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
    work.release(thread, delivery)
    delivery.thread = null
  }

  function take(delivery: Delivery): Delivery {
    deliveries.delete(delivery.task)
    queues.remove(delivery)
    return delivery
  }

  function ended(thread: DeliveryThread, end: ThreadEnd): void {
    const { composing, reason } = end
    const current = deliveries.get(composing)
    const blamed = current?.composed === undefined ? current?.source.content.id : undefined
    const sites = new Set(connections.drop(thread))
    const own = [...deliveries.values()].filter((delivery) => delivery.thread === thread)
    for (const delivery of own) {
      sites.add(delivery.pool.site)
      unassign(delivery)
    }
    work.drop(thread)
    for (const [, { load }] of queues.entries()) load.delete(thread)
    const { accepted, composed, excluded, waiting } = sortLost(own, end)
    endAll(accepted, (delivery) => resultOfAccepted(delivery, now()))
    // `stop` puts back the deliveries without a result.
    if (isStopping) return
    for (const delivery of waiting) {
      if (delivery.isWithdrawn) putBack([delivery], 0)
      else queues.of(delivery.pool.site).waiting.push(delivery)
    }
    putBack(excluded, AFTER_CRASH_MS)
    putBack(composed, AFTER_LOSS_MS)
    if (blamed !== undefined) setAside(blamed, { composing, reason })
    pump(sites.union(unserved))
  }

  /** Makes the delivery threads stop composing messages of the content. */
  function setAside(content: string, { composing, reason }: { composing: number; reason: string }) {
    for (const thread of threads.list()) thread.postMessage({ type: 'set aside', content })
    const heavy: Delivery[] = []
    for (const [, { waiting }] of queues.entries()) {
      heavy.push(...waiting.take(({ source }) => source.content.id === content))
    }
    endAll(heavy, ({ task }) => ({
      task,
      kind: 'heavy',
      ...(task === composing ? { reason } : {}),
    }))
  }

  function putBack(list: readonly Delivery[], delayMs: number): void {
    endAll(list, ({ task }) => ({ task, kind: 'put back', delayMs }))
  }

  function endAll(list: readonly Delivery[], resultOf: (one: Delivery) => TaskResult): void {
    if (list.length > 0) done(new Map(list.map((one) => [take(one), resultOf(one)])))
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

  function withdraw(test: (delivery: Delivery) => boolean): void {
    const matching = [...deliveries.values()].filter(test)
    const sites = new Set(matching.map(({ pool }) => pool.site))
    const waiting = [...sites].flatMap((site) => queues.of(site).waiting.take(test))
    for (const [thread, given] of Map.groupBy(matching, (one) => one.thread)) {
      if (thread === null) continue
      // The thread may have answered already, and ask that another thread take the delivery.
      for (const delivery of given) delivery.isWithdrawn = true
      thread.postMessage({ type: 'withdraw', tasks: given.map(({ task }) => task) })
    }
    putBack(waiting, 0)
    pump(sites)
  }

  /**
   * Puts back deliveries that have waited too long for a connection, and forgets sites that have
   * been idle for a while.
   */
  function checkSites(): void {
    for (const site of starvedSites.listSince(MAX_STARVED_MS))
      putBackWaiting(site, AFTER_STARVED_MS)
    const before = now() - deps.settings.idleMs
    for (const [site, { count, resolving, idleSince }] of queues.entries()) {
      if (count + resolving === 0 && idleSince <= before) connections.forget(site)
    }
    for (const site of recalled) if (queues.find(site) === undefined) recalled.delete(site)
    pump([...unserved])
  }

  function byLoad(): DeliveryThread[] {
    return [...threads.list()].sort((left, right) => work.count(left) - work.count(right))
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    clearInterval(siteTimer)
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
    withdraw,
    threads: () => {
      const running = threads.list()
      const counts = running.map((thread) => work.count(thread))
      const assigned = counts.reduce((sum, count) => sum + count, 0)
      const busy = counts.filter((count) => count > 0).length
      return { running: running.length, busy, waiting: Math.max(0, deliveries.size - assigned) }
    },
    count: () => deliveries.size,
    connectionsOf: connections.total,
    lacksConnection: connections.isLacking,
    countStarved: starvedSites.count,
    async progressOf(test) {
      const delivery = deliveries.values().find(test)
      return delivery && progressQueries.progressOf(delivery)
    },
    stop,
  }
}
