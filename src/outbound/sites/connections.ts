/**
 * The connections of the sites: how many each has with each delivery thread, within the site's own
 * limit and the budgets that sites share. A site without any is starved, and others give some up.
 */
import type { Now } from '../../clock.ts'
import type { DeliveryThread } from '../protocol.ts'
import { type AllocationChange, createAllocations } from './allocations.ts'
import { createBudgets } from './budgets.ts'
import type { Standing } from './shaping.ts'
import type { SiteQueue, SiteQueues } from './site-queues.ts'
import { createStarvedSites } from './starved-sites.ts'

export type ConnectionsDeps = {
  maxConnections: number
  maxPerSite: number
  queues: SiteQueues
  /** How many connections the site may have. */
  connectionsOf(site: string): number
  standingOf(site: string): Standing
  /** Gives the site free connections, and its mail to the threads that have them. */
  serve(site: string): void
  /** Sends the messages that `serve` has batched. */
  flush(): void
  now: Now
}

/** With this many deliveries per connection, connections of a site move to idle threads. */
const BUSY_SITE_DELIVERIES = 4

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

  /** Gives a site the connections that it needs, as far as there are any. */
  function allocate(site: string, queue: SiteQueue, threads: readonly DeliveryThread[]): void {
    const limit = deps.connectionsOf(site)
    lower(site, limit)
    updateBudgets(site, queue)
    const needs = Math.min(limit, queue.count, allocations.total(site) + budgets.capacity(site))
    send(allocations.raise({ site, needs, threads }))
    updateBudgets(site, queue)
    if (queue.count > limit * BUSY_SITE_DELIVERIES) send(allocations.rebalance(site, threads))
  }

  function updateBudgets(site: string, queue: SiteQueue): void {
    const connections = allocations.total(site)
    const { addresses, hasGreeted, projects } = queue
    const [projectId = null] = projects.size === 1 ? projects.keys() : []
    const isCut = !hasGreeted && starvedSites.isCut(site)
    const standing = isCut ? 'silent' : deps.standingOf(site)
    budgets.update(site, { addresses, projectId, hasGreeted, standing }, connections)
    if (connections === 0) queue.servedSince = null
    else queue.servedSince ??= now()
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
    /** A thread has closed the connections beyond a lower allocation. */
    confirm(thread: DeliveryThread, site: string, connections: number): void {
      allocations.confirm(thread, site, connections)
      updateBudgets(site, queues.of(site))
    },
    /** A session with the site has been greeted. */
    greeted(site: string): void {
      const queue = queues.of(site)
      queue.hasGreeted = true
      starvedSites.forgetCuts(site)
      updateBudgets(site, queue)
    },
    /** Lowers an idle site to no connection. Returns whether it has none, and is forgotten. */
    forget(site: string): boolean {
      lower(site, 0)
      if (allocations.total(site) > 0) return false
      queues.delete(site)
      budgets.forget(site)
      return true
    },
    /** Forgets a thread that has ended. Returns the sites that had connections. */
    drop(thread: DeliveryThread): string[] {
      const sites = allocations.sites()
      allocations.drop(thread)
      return sites
    },
    choose: allocations.choose,
    total: allocations.total,
    starvedSites,
  }
}
