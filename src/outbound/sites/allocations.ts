/**
 * How many connections each thread may have open to each site. A site's allocations never exceed the
 * limit of `shaping.ts` in sum, all allocations never exceed `maxConnections`. A higher allocation
 * counts at once, a lower one when the thread has confirmed it.
 */
export type AllocationChange<T> = { thread: T; site: string; connections: number }

export type Allocations<T> = {
  /** Raises the site to what it `needs`, as far as connections are left; returns what to send. */
  raise(input: { site: string; needs: number; threads: readonly T[] }): AllocationChange<T>[]
  /** Lowers the site to `limit`; returns what to send. */
  lower(site: string, limit: number): AllocationChange<T>[]
  /** Lowers the thread with the most connections, so that others can get more; returns what to send. */
  rebalance(site: string, threads: readonly T[]): AllocationChange<T>[]
  /** Whether a lower allocation of the site has not been confirmed yet. */
  isLowering(site: string): boolean
  confirm(thread: T, site: string, connections: number): void
  /** Returns the thread with the least `load` per connection of the site. */
  choose(site: string, load: (thread: T) => number): T | undefined
  total(site: string): number
  /** The threads that have connections of the site. */
  threads(site: string): T[]
  /** Whether all connections are allocated. */
  isFull(): boolean
  /** Forgets a thread that has ended, with its connections. */
  drop(thread: T): void
  sites(): string[]
}

type Allocation<T> = { thread: T; connections: number; lowerTo: number | null }

export function createAllocations<T>(maxConnections: number): Allocations<T> {
  const sites = new Map<string, Allocation<T>[]>()
  let allocated = 0

  const isFull = () => allocated >= maxConnections
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
      const [most] = open.sort((left, right) => right.aim - left.aim)
      if (most === undefined) break
      most.aim--
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
    const [most, least] = [Math.max(...counts), Math.min(...counts)]
    const largest = list.find(({ connections }) => connections === most)
    if (largest === undefined || most - least < 2) return []
    return [lowerOne(site, largest, most - Math.floor((most - least) / 2))]
  }

  function confirm(thread: T, site: string, connections: number): void {
    const list = ofSite(site)
    const allocation = list.find((one) => one.thread === thread)
    if (allocation === undefined || allocation.lowerTo !== connections) return
    allocated -= allocation.connections - connections
    allocation.connections = connections
    allocation.lowerTo = null
    if (total(site) === 0) sites.delete(site)
  }

  return {
    raise,
    lower,
    rebalance,
    isLowering: (site) => ofSite(site).some(({ lowerTo }) => lowerTo !== null),
    confirm,
    total,
    threads: (site) =>
      ofSite(site).flatMap((allocation) => (allocation.connections > 0 ? allocation.thread : [])),
    isFull,
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
