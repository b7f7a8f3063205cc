/**
 * Which thread may have how many connections open, to which site. The sum of a site's grants never
 * exceeds what shaping allows it, the sum of all never `maxConnections`. A grant is raised at
 * once, but a lower one counts only when the thread has confirmed that it keeps to it.
 */
export type AllocationChange<T> = { thread: T; site: string; connections: number }

export type Allocations<T> = {
  /** What to send so that the site has as many as it `needs`, as far as there are any left. */
  raise(input: { site: string; needs: number; threads: readonly T[] }): AllocationChange<T>[]
  /** What to send so that the site comes down to `limit`. */
  lower(site: string, limit: number): AllocationChange<T>[]
  /** What to send so that threads with few connections of a busy site can get more. */
  rebalance(site: string, threads: readonly T[]): AllocationChange<T>[]
  /** A lower grant of the site has not been confirmed yet. */
  isLowering(site: string): boolean
  confirm(thread: T, site: string, connections: number): void
  /** Of the threads that may work for the site the one with the least `load` on a connection. */
  choose(site: string, load: (thread: T) => number): T | undefined
  total(site: string): number
  /** Who has any of the site's. */
  threads(site: string): T[]
  /** Every connection there may be is granted. */
  isFull(): boolean
  /** The thread is gone, and its connections with it. */
  drop(thread: T): void
  sites(): string[]
}

type Allocation<T> = { thread: T; connections: number; lowerTo: number | null }

export function createAllocations<T>(maxConnections: number): Allocations<T> {
  const sites = new Map<string, Allocation<T>[]>()
  let allocated = 0

  const isFull = () => allocated >= maxConnections
  const ofSite = (site: string) => sites.get(site) ?? []
  const total = (site: string) => ofSite(site).reduce((sum, grant) => sum + grant.connections, 0)

  function raise({
    site,
    needs,
    threads,
  }: Parameters<Allocations<T>['raise']>[0]): AllocationChange<T>[] {
    const list = ofSite(site)
    const raised = new Set<Allocation<T>>()
    let missing = Math.min(needs - total(site), maxConnections - allocated)
    while (missing-- > 0) {
      const grant = leastAllocated(list, threads)
      if (grant === undefined) break
      grant.connections++
      allocated++
      raised.add(grant)
    }
    if (list.length > 0) sites.set(site, list)
    return [...raised].map(({ thread, connections }) => ({ thread, site, connections }))
  }

  function lowerOne(site: string, grant: Allocation<T>, connections: number): AllocationChange<T> {
    grant.lowerTo = connections
    return { thread: grant.thread, site, connections }
  }

  function lower(site: string, limit: number): AllocationChange<T>[] {
    const list = ofSite(site).filter(({ connections }) => connections > 0)
    const aims = list.map((grant) => ({ grant, aim: grant.lowerTo ?? grant.connections }))
    let excess = aims.reduce((sum, { aim }) => sum + aim, -limit)
    for (; excess > 0; excess--) {
      const open = aims.filter(({ grant, aim }) => grant.lowerTo === null && aim > 0)
      const [most] = open.sort((left, right) => right.aim - left.aim)
      if (most === undefined) break
      most.aim--
    }
    const changed = aims.filter(({ grant, aim }) => aim < (grant.lowerTo ?? grant.connections))
    return changed.map(({ grant, aim }) => lowerOne(site, grant, aim))
  }

  function rebalance(site: string, threads: readonly T[]): AllocationChange<T>[] {
    const list = ofSite(site)
    if (list.some(({ lowerTo }) => lowerTo !== null)) return []
    const counts = threads.map(
      (thread) => list.find((grant) => grant.thread === thread)?.connections ?? 0,
    )
    const [most, least] = [Math.max(...counts), Math.min(...counts)]
    const richest = list.find(({ connections }) => connections === most)
    if (richest === undefined || most - least < 2) return []
    return [lowerOne(site, richest, most - Math.floor((most - least) / 2))]
  }

  function confirm(thread: T, site: string, connections: number): void {
    const list = ofSite(site)
    const grant = list.find((one) => one.thread === thread)
    if (grant === undefined || grant.lowerTo !== connections) return
    allocated -= grant.connections - connections
    grant.connections = connections
    grant.lowerTo = null
    if (total(site) === 0) sites.delete(site)
  }

  return {
    raise,
    lower,
    rebalance,
    isLowering: (site) => ofSite(site).some(({ lowerTo }) => lowerTo !== null),
    confirm,
    total,
    threads: (site) => ofSite(site).flatMap((grant) => (grant.connections > 0 ? grant.thread : [])),
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
        for (const grant of list) if (grant.thread === thread) allocated -= grant.connections
        const kept = list.filter((grant) => grant.thread !== thread)
        if (kept.some(({ connections }) => connections > 0)) sites.set(site, kept)
        else sites.delete(site)
      }
    },
    sites: () => [...sites.keys()],
  }
}

/** Adds an empty grant for a thread that has none, so that connections spread over all threads. */
function leastAllocated<T>(
  list: Allocation<T>[],
  threads: readonly T[],
): Allocation<T> | undefined {
  for (const thread of threads) {
    if (!list.some((grant) => grant.thread === thread))
      list.push({ thread, connections: 0, lowerTo: null })
  }
  const usable = list.filter(({ thread, lowerTo }) => lowerTo === null && threads.includes(thread))
  return usable.reduce<Allocation<T> | undefined>(
    (least, grant) =>
      least === undefined || grant.connections < least.connections ? grant : least,
    undefined,
  )
}
