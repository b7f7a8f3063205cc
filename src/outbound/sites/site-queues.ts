/**
 * The deliveries in progress, by site and by project: those that wait for a thread, and the counts
 * of all. A project may have three times as many deliveries as there are free places, so that its
 * backlog leaves places for others. These are no `turns/key-places.ts`: they count by site as well, and a
 * project's limit follows from what is free.
 */
import { createLru } from '../../base/lru.ts'
import { type ClassQueue, createClassQueue } from '../class-queue.ts'
import type { Delivery } from '../delivery.ts'
import type { DeliveryThread, PoolSettings } from '../protocol.ts'
import { findProvider } from '../routing/providers.ts'
import { SHARE_OF_PROJECT } from './budgets.ts'

export type SiteQueue = {
  waiting: ClassQueue<Delivery>
  /** How many deliveries are in the queue or with a thread. */
  count: number
  /** How many deliveries have no known destination yet; they count for the site of their task. */
  resolving: number
  /** How many deliveries each thread has. */
  load: Map<DeliveryThread, number>
  /** How many deliveries each project has. */
  projects: Map<string, number>
  /** The first addresses of the site's servers; none for a well-known provider. */
  addresses: readonly string[]
  targets: PoolSettings['targets'] | null
  /** The site has sent a greeting and has not been silent since. */
  hasGreeted: boolean
  /** When the site got its first connection, epoch ms; null while it has none. */
  servedSince: number | null
  /** When the site was last asked to give up a connection. */
  loweredAt: number
  /** When the last delivery of the site ended. */
  idleSince: number
}

/** A delivery whose destination is being resolved: its task's site and project. */
export type UnresolvedTask = { site: string; projectId: string }

export type SiteQueues = {
  /** The queue of a site; it is created if there is none. */
  of(site: string): SiteQueue
  find(site: string): SiteQueue | undefined
  /** Whether the site has sent a greeting and has not been silent since, as far as is known. */
  hasGreeted(site: string): boolean
  entries(): Iterable<[string, SiteQueue]>
  /** Forgets a queue without deliveries; whether its site has greeted is kept for a moment. */
  delete(site: string): void
  enterResolving(resolving: UnresolvedTask): void
  leaveResolving(resolving: UnresolvedTask): void
  /** Adds a delivery to the queue of its site. */
  add(delivery: Delivery): void
  /** Removes a delivery whose result is known. */
  remove(delivery: Delivery): void
  /** The number of deliveries of a site. */
  count(site: string): number
  total(): number
  /** Sites with deliveries. */
  busySites(): string[]
  /** How many more deliveries a project may have if all projects together may have `maxTotal`. */
  projectCapacity(projectId: string, maxTotal: number): number
}

const MAX_SITE_ADDRESSES = 16
const MAX_GREETED = 5_000
const GREETED_MS = 30_000

export function createSiteQueues(now: () => number): SiteQueues {
  const queues = new Map<string, SiteQueue>()
  const ofProject = new Map<string, number>()
  /** When the queues of sites that had greeted were deleted. */
  const greeted = createLru<number>(MAX_GREETED)
  let total = 0

  function of(site: string): SiteQueue {
    const known = queues.get(site)
    if (known !== undefined) return known
    const queue = { ...createSiteQueue(now()), hasGreeted: hasGreetedLately(site) }
    queues.set(site, queue)
    return queue
  }

  function hasGreetedLately(site: string): boolean {
    return now() - (greeted.get(site) ?? Number.NEGATIVE_INFINITY) < GREETED_MS
  }

  function forget(site: string): void {
    if (queues.get(site)?.hasGreeted) greeted.set(site, now())
    else greeted.delete(site)
    queues.delete(site)
  }

  function count(projectId: string, change: 1 | -1): void {
    total += change
    addTo(ofProject, projectId, change)
  }

  function resolve({ site, projectId }: UnresolvedTask, change: 1 | -1): void {
    of(site).resolving += change
    count(projectId, change)
  }

  return {
    of,
    find: (site) => queues.get(site),
    hasGreeted: (site) => queues.get(site)?.hasGreeted ?? hasGreetedLately(site),
    entries: () => queues,
    delete: forget,
    enterResolving: (resolving) => resolve(resolving, 1),
    leaveResolving: (resolving) => resolve(resolving, -1),
    add(delivery) {
      const queue = of(delivery.pool.site)
      queue.waiting.push(delivery)
      queue.count++
      addTo(queue.projects, delivery.projectId, 1)
      count(delivery.projectId, 1)
      addAddresses(queue, delivery.pool)
    },
    remove({ pool, projectId }) {
      const queue = of(pool.site)
      queue.count--
      if (queue.count === 0) queue.idleSince = now()
      addTo(queue.projects, projectId, -1)
      count(projectId, -1)
    },
    count: (site) => countOf(queues.get(site)),
    total: () => total,
    busySites: () => [...queues].flatMap(([site, queue]) => (countOf(queue) > 0 ? site : [])),
    projectCapacity(projectId, maxTotal) {
      const own = ofProject.get(projectId) ?? 0
      const free = maxTotal - total
      // A project may add a delivery while it has fewer than `SHARE_OF_PROJECT` times the free
      // places.
      return Math.max(0, Math.ceil((SHARE_OF_PROJECT * free - own) / (SHARE_OF_PROJECT + 1)))
    },
  }
}

function createSiteQueue(now: number): SiteQueue {
  return {
    waiting: createClassQueue<Delivery>((delivery) => delivery),
    count: 0,
    resolving: 0,
    load: new Map(),
    projects: new Map(),
    addresses: [],
    targets: null,
    hasGreeted: false,
    servedSince: null,
    loweredAt: 0,
    idleSince: now,
  }
}

function countOf(queue: SiteQueue | undefined): number {
  return queue === undefined ? 0 : queue.count + queue.resolving
}

function addTo(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}

/** A site of many domains has many destinations; its first addresses represent all of them. */
function addAddresses(queue: SiteQueue, { site, targets }: PoolSettings): void {
  if (queue.targets === targets) return
  queue.targets = targets
  // Well-known providers have limits of their own.
  if (findProvider(site) !== undefined || queue.addresses.length >= MAX_SITE_ADDRESSES) return
  const more = targets.filter(({ address }) => !queue.addresses.includes(address))
  if (more.length === 0) return
  const all = [...queue.addresses, ...new Set(more.map(({ address }) => address))]
  queue.addresses = all.slice(0, MAX_SITE_ADDRESSES)
}
