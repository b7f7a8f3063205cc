/**
 * The connections of the sites: how many each site may have open in each delivery thread, within
 * its own limit (`shaping.ts`), the budgets that sites share, and `maxConnections` for all. A
 * higher allocation counts at once, a lower one when the thread has confirmed it. Idle sites keep
 * their connections until other sites need them; the threads then end the sessions at once. For the time
 * of that message to a thread, more connections may be open than are allocated. A site that has mail but
 * no connection is starved; busy sites give up connections for it.
 */
import type { Now } from '../../base/clock.ts'
import { TRANSACTIONAL_CLASS } from '../../base/queue-class.ts'
import type { DeliveryThread } from '../protocol.ts'
import { createBudgets, type SiteFacts } from './budgets.ts'
import type { SiteStanding } from './shaping.ts'
import type { SiteQueue, SiteQueues } from './site-queues.ts'
import { createStarvedSites } from './starved-sites.ts'

export type ConnectionsDeps = {
  maxConnections: number
  maxPerSite: number
  queues: SiteQueues
  /** How many connections the site may have. */
  connectionsOf(site: string): number
  /** How many connections the given number of deliveries needs if the deliveries share connections. */
  connectionsFor(site: string, deliveries: number): number
  standingOf(site: string): SiteStanding
  /**
   * Allocates free connections to the site, then assigns its mail to the threads that have them.
   */
  serve(site: string): void
  /** Sends the messages that `serve` has batched. */
  flush(): void
  now: Now
}

type RaiseInput<T> = { site: string; needs: number; threads: readonly T[] }

type AllocationChange<T> = { thread: T; site: string; connections: number }

/** `lowerTo`: the lower number that the thread was asked for and has not confirmed yet. */
type Allocation<T> = { thread: T; connections: number; lowerTo: number | null }

/** Deliveries of bulk mail share connections when less than this part of all connections is free. */
const SCARCE_SHARE = 0.5
/**
 * With this many deliveries per connection, connections of a site move to idle threads. A site
 * whose mail shares connections keeps those it has: it needs fewer than it may have, so it would
 * not get back what it gives up.
 */
const BUSY_SITE_DELIVERIES = 2

export function createConnections(deps: ConnectionsDeps) {
  const { queues, now } = deps
  const allocations = createAllocations<DeliveryThread>(deps.maxConnections)
  const budgets = createBudgets(deps)
  const starvedSites = createStarvedSites({
    ...deps,
    allocations,
    budgets,
    queueOf: queues.of,
    lower,
  })

  /** Allocates the connections that a site needs, within its limit and the budgets. */
  function allocate(site: string, queue: SiteQueue, threads: readonly DeliveryThread[]): void {
    const limit = deps.connectionsOf(site)
    lower(site, limit)
    updateBudgets(site, queue)
    const wanted = mayShare(queue)
      ? deps.connectionsFor(site, queue.count)
      : Math.min(limit, queue.count)
    const missing = wanted - allocations.total(site)
    const possible = Math.min(missing, budgets.capacity(site))
    if (possible > 0) {
      releaseIdle(site, possible)
      const more = Math.min(possible, budgets.capacity(site))
      send(allocations.raise({ site, needs: allocations.total(site) + more, threads }))
      updateBudgets(site, queue)
    }
    const isBusy = queue.count >= limit * BUSY_SITE_DELIVERIES
    if (isBusy && wanted >= allocations.total(site)) send(allocations.rebalance(site, threads))
  }

  /** Urgent mail does not wait for a connection in use: the message on it may take long. */
  function mayShare({ waiting }: SiteQueue): boolean {
    if (waiting.peek()?.queueClass === TRANSACTIONAL_CLASS) return false
    return budgets.free() < deps.maxConnections * SCARCE_SHARE
  }

  /** Makes idle sites release their connections until the site may have `count` more. */
  function releaseIdle(site: string, count: number): void {
    for (;;) {
      const idle = budgets.findIdle(site, count)
      if (idle === undefined) return
      const queue = queues.of(idle)
      // The site may have new mail that is not served yet.
      if (queue.count > 0) updateBudgets(idle, queue)
      else forget(idle)
    }
  }

  /** Releases the connections of an idle site and forgets it. */
  function forget(site: string): void {
    for (const thread of allocations.release(site)) thread.postMessage({ type: 'release', site })
    budgets.forget(site)
    if (queues.find(site)?.resolving === 0) queues.delete(site)
  }

  function updateBudgets(site: string, queue: SiteQueue): void {
    const connections = allocations.total(site)
    const { addresses, hasGreeted, projects } = queue
    const [projectId = null] = projects.size === 1 ? projects.keys() : []
    const isIdle = queue.count === 0
    const facts = { addresses, projectId, isIdle, ...historyOf(site, hasGreeted) }
    budgets.update(site, facts, connections)
    if (connections === 0) queue.servedSince = null
    else queue.servedSince ??= now()
  }

  /**
   * A site whose session was cut counts as silent until it has greeted. A site that replied the last time
   * has greeted, however long ago.
   */
  function historyOf(
    site: string,
    hasGreeted: boolean,
  ): Pick<SiteFacts, 'hasGreeted' | 'standing'> {
    if (!hasGreeted && starvedSites.isCut(site)) return { hasGreeted, standing: 'silent' }
    const standing = deps.standingOf(site)
    return { hasGreeted: hasGreeted || standing === 'replied', standing }
  }

  function lower(site: string, connections: number): void {
    send(allocations.lower(site, connections))
  }

  function send(changes: AllocationChange<DeliveryThread>[]): void {
    for (const { thread, site, connections } of changes)
      thread.postMessage({ type: 'allocate', site, connections })
  }

  return {
    allocate,
    /**
     * Call this when a thread has closed the connections beyond a lower allocation. Returns false if
     * nothing becomes free, because the site has released its connections in the meantime.
     */
    confirm(thread: DeliveryThread, site: string, connections: number): boolean {
      if (!allocations.confirm(thread, site, connections)) return false
      updateBudgets(site, queues.of(site))
      return true
    },
    /** A session with the site has been greeted. */
    greeted(site: string): void {
      const queue = queues.of(site)
      queue.hasGreeted = true
      starvedSites.forgetCuts(site)
      updateBudgets(site, queue)
    },
    forget,
    /** Forgets a thread that has ended. Returns the sites that had connections. */
    drop(thread: DeliveryThread): string[] {
      const sites = allocations.sites()
      allocations.drop(thread)
      for (const site of sites) updateBudgets(site, queues.of(site))
      return sites
    },
    choose: allocations.choose,
    total: allocations.total,
    /** Whether the site has no connection, and none is free for mail of the project there. */
    isLacking(site: string, projectId: string): boolean {
      if (allocations.total(site) > 0) return false
      const history = historyOf(site, queues.hasGreeted(site))
      return budgets.poolCapacity({ projectId, ...history }) === 0
    },
    starvedSites,
  }
}

/**
 * Counts the connections that each site may have open in each thread, within `maxConnections` for all.
 * `raise`, `lower` and `rebalance` return the messages to send to the threads.
 */
export function createAllocations<T>(maxConnections: number) {
  const sites = new Map<string, Allocation<T>[]>()
  let allocated = 0

  const ofSite = (site: string) => sites.get(site) ?? []
  const total = (site: string) =>
    ofSite(site).reduce((sum, allocation) => sum + allocation.connections, 0)

  /** Raises the site to what it `needs`, as far as connections are left. */
  function raise({ site, needs, threads }: RaiseInput<T>): AllocationChange<T>[] {
    const list = ofSite(site)
    const raised = new Set<Allocation<T>>()
    let missing = Math.min(needs - total(site), maxConnections - allocated)
    while (missing-- > 0) {
      const allocation = leastAllocated(list, threads)
      if (allocation === undefined) break
      allocation.connections++
      allocated++
      raised.add(allocation)
    }
    if (list.length > 0) sites.set(site, list)
    return [...raised].map(({ thread, connections }) => ({ thread, site, connections }))
  }

  function lowerOne(
    site: string,
    allocation: Allocation<T>,
    connections: number,
  ): AllocationChange<T> {
    allocation.lowerTo = connections
    return { thread: allocation.thread, site, connections }
  }

  /** Lowers the site to `limit`. */
  function lower(site: string, limit: number): AllocationChange<T>[] {
    const list = ofSite(site).filter(({ connections }) => connections > 0)
    const aims = list.map((allocation) => ({
      allocation,
      aim: allocation.lowerTo ?? allocation.connections,
    }))
    let excess = aims.reduce((sum, { aim }) => sum + aim, -limit)
    for (; excess > 0; excess--) {
      const open = aims.filter(({ allocation, aim }) => allocation.lowerTo === null && aim > 0)
      const [largest] = open.sort((left, right) => right.aim - left.aim)
      if (largest === undefined) break
      largest.aim--
    }
    const changed = aims.filter(
      ({ allocation, aim }) => aim < (allocation.lowerTo ?? allocation.connections),
    )
    return changed.map(({ allocation, aim }) => lowerOne(site, allocation, aim))
  }

  /** Lowers the thread with the most connections, to free some for the others. */
  function rebalance(site: string, threads: readonly T[]): AllocationChange<T>[] {
    const list = ofSite(site)
    if (list.some(({ lowerTo }) => lowerTo !== null)) return []
    const counts = threads.map(
      (thread) => list.find((allocation) => allocation.thread === thread)?.connections ?? 0,
    )
    const [max, min] = [Math.max(...counts), Math.min(...counts)]
    const largest = list.find(({ connections }) => connections === max)
    if (largest === undefined || max - min < 2) return []
    return [lowerOne(site, largest, max - Math.floor((max - min) / 2))]
  }

  /** Takes all connections from an idle site. Returns the threads that had them. */
  function release(site: string): T[] {
    const connected = ofSite(site).filter(({ connections }) => connections > 0)
    for (const { connections } of connected) allocated -= connections
    sites.delete(site)
    return connected.map(({ thread }) => thread)
  }

  /** Returns false if the thread was not asked for this. */
  function confirm(thread: T, site: string, connections: number): boolean {
    const list = ofSite(site)
    const allocation = list.find((one) => one.thread === thread)
    if (allocation === undefined || allocation.lowerTo !== connections) return false
    allocated -= allocation.connections - connections
    allocation.connections = connections
    allocation.lowerTo = null
    if (total(site) === 0) sites.delete(site)
    return true
  }

  return {
    raise,
    lower,
    rebalance,
    release,
    /** Whether a lower allocation of the site has not been confirmed yet. */
    isLowering: (site: string) => ofSite(site).some(({ lowerTo }) => lowerTo !== null),
    confirm,
    total,
    /** The threads that have connections of the site. */
    threads: (site: string) =>
      ofSite(site).flatMap((allocation) => (allocation.connections > 0 ? allocation.thread : [])),
    /** Returns the thread with the least `load` per connection of the site. */
    choose(site: string, load: (thread: T) => number): T | undefined {
      let best: { thread: T; load: number } | undefined
      for (const { thread, connections, lowerTo } of ofSite(site)) {
        if (connections === 0 || lowerTo !== null) continue
        const share = load(thread) / connections
        if (best === undefined || share < best.load) best = { thread, load: share }
      }
      return best?.thread
    },
    /** Forgets a thread that has ended, with its connections. */
    drop(thread: T): void {
      for (const [site, list] of sites) {
        for (const allocation of list)
          if (allocation.thread === thread) allocated -= allocation.connections
        const kept = list.filter((allocation) => allocation.thread !== thread)
        if (kept.some(({ connections }) => connections > 0)) sites.set(site, kept)
        else sites.delete(site)
      }
    },
    sites: () => [...sites.keys()],
  }
}

/** Adds an empty allocation for each thread without one, so that connections spread over all. */
function leastAllocated<T>(
  list: Allocation<T>[],
  threads: readonly T[],
): Allocation<T> | undefined {
  for (const thread of threads) {
    if (!list.some((allocation) => allocation.thread === thread))
      list.push({ thread, connections: 0, lowerTo: null })
  }
  const usable = list.filter(({ thread, lowerTo }) => lowerTo === null && threads.includes(thread))
  return usable.reduce<Allocation<T> | undefined>(
    (least, allocation) =>
      least === undefined || allocation.connections < least.connections ? allocation : least,
    undefined,
  )
}
