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
import { type AllocationChange, createAllocations } from './allocations.ts'
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
  /** How many connections that many deliveries need if they share connections. */
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

/** Deliveries of bulk mail share connections when less than this part of all connections is free. */
const SCARCE = 0.5
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
    return budgets.free() < deps.maxConnections * SCARCE
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
     * A thread has closed the connections beyond a lower allocation. Returns false if this frees
     * nothing: the site has released its connections meanwhile.
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
