/**
 * Counts the connections that each site may have open in each delivery thread, within
 * `maxConnections` for all. `connections.ts` decides about them and sends the messages to the
 * threads.
 */

export type AllocationChange<T> = { thread: T; site: string; connections: number }

type Allocations<T> = {
  /** Raises the site to what it `needs`, as far as connections are left; returns the messages to send. */
  raise(input: { site: string; needs: number; threads: readonly T[] }): AllocationChange<T>[]
  /** Lowers the site to `limit`; returns the messages to send. */
  lower(site: string, limit: number): AllocationChange<T>[]
  /**
   * Lowers the thread with the most connections, to free some for the others; returns the messages
   * to send.
   */
  rebalance(site: string, threads: readonly T[]): AllocationChange<T>[]
  /** Takes all connections from an idle site. Returns the threads that had them. */
  release(site: string): T[]
  /** Whether a lower allocation of the site has not been confirmed yet. */
  isLowering(site: string): boolean
  /** Returns false if the thread was not asked for this. */
  confirm(thread: T, site: string, connections: number): boolean
  /** Returns the thread with the least `load` per connection of the site. */
  choose(site: string, load: (thread: T) => number): T | undefined
  total(site: string): number
  /** The threads that have connections of the site. */
  threads(site: string): T[]
  /** Forgets a thread that has ended, with its connections. */
  drop(thread: T): void
  sites(): string[]
}

type Allocation<T> = { thread: T; connections: number; lowerTo: number | null }

export function createAllocations<T>(maxConnections: number): Allocations<T> {
  const sites = new Map<string, Allocation<T>[]>()
  let allocated = 0

  const ofSite = (site: string) => sites.get(site) ?? []
  const total = (site: string) =>
    ofSite(site).reduce((sum, allocation) => sum + allocation.connections, 0)

  function raise({
    site,
    needs,
    threads,
  }: Parameters<Allocations<T>['raise']>[0]): AllocationChange<T>[] {
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

  function release(site: string): T[] {
    const connected = ofSite(site).filter(({ connections }) => connections > 0)
    for (const { connections } of connected) allocated -= connections
    sites.delete(site)
    return connected.map(({ thread }) => thread)
  }

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
    isLowering: (site) => ofSite(site).some(({ lowerTo }) => lowerTo !== null),
    confirm,
    total,
    threads: (site) =>
      ofSite(site).flatMap((allocation) => (allocation.connections > 0 ? allocation.thread : [])),
    choose(site, load) {
      let best: { thread: T; load: number } | undefined
      for (const { thread, connections, lowerTo } of ofSite(site)) {
        if (connections === 0 || lowerTo !== null) continue
        const share = load(thread) / connections
        if (best === undefined || share < best.load) best = { thread, load: share }
      }
      return best?.thread
    },
    drop(thread) {
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
