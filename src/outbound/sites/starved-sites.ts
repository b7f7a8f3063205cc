/**
 * Sites that have mail to send and no connection, and how they come to one: what is free goes to
 * urgent mail first, then to who holds least; where nothing is, others give theirs up (`reclaim.ts`).
 * There may be hundreds of such sites, and this runs with every batch of results: a look at one of
 * them costs next to nothing while nothing is free. While nothing changes they are looked at now and
 * then.
 */
import { LRUCache } from 'lru-cache'
import type { Now } from '../../clock.ts'
import type { DeliveryThread } from '../dispatch/threads.ts'
import type { Allocations } from './allocations.ts'
import type { Budgets } from './budgets.ts'
import { chooseReclaim, type Holder } from './reclaim.ts'
import type { SiteWork } from './site-queue.ts'

export type StarvedSites = {
  has(site: string): boolean
  size(): number
  /** From now on it has none, or has one. */
  note(site: string, isStarved: boolean): void
  serveAll(): void
  /** Those that have starved for so long. */
  listSince(ms: number): string[]
  /** Whether it was cut and has not greeted since. */
  isCut(site: string): boolean
  /** The site has greeted. */
  forgive(site: string): void
  stop(): void
}

export type StarvedSitesDeps = {
  allocations: Allocations<DeliveryThread>
  budgets: Budgets
  siteOf(site: string): SiteWork<{ work: { queueClass: number } }>
  /** Gives it what is free, and its mail to who has it. */
  serve(site: string): void
  lower(site: string, connections: number): void
  /** What was served goes out. */
  flush(): void
  now: Now
}

type StarvedSite = {
  name: string
  queueClass: number
  rank: number
  /** Those who have what it lacks; undefined when it lacks nothing. */
  sharers: ReadonlySet<string> | undefined
}

const AGAIN_MS = 250
/** So many connections may be on their way from others at once. */
const MAX_AWAITED = 8
/** A connection that is given up comes that soon, unless a message is on it. */
const GIVE_UP_MS = 1_000
const MAX_CUTS_KEPT = 10_000

export function createStarvedSites(deps: StarvedSitesDeps): StarvedSites {
  const { allocations, budgets, siteOf, now } = deps
  /** Since when. */
  const starved = new Map<string, number>()
  const cuts = new LRUCache<string, number>({ max: MAX_CUTS_KEPT })
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function serveAll(): void {
    const starving = [...starved.keys()].map(lookAt)
    for (const { name } of inOrder(starving.filter(({ sharers }) => sharers === undefined)))
      deps.serve(name)
    const lacking = starving.filter(({ sharers }) => sharers !== undefined)
    for (const [sharers, some] of Map.groupBy(lacking, (one) => one.sharers)) {
      const first = some.reduce((best, one) => (compare(one, best) < 0 ? one : best))
      if (sharers !== undefined) makeRoom(first.name, sharers, some.length)
    }
    if (starved.size > 0 && !isStopped) timer ??= setTimeout(serveAgain, AGAIN_MS).unref()
  }

  function serveAgain(): void {
    timer = undefined
    for (const { name } of inOrder([...starved.keys()].map(lookAt))) deps.serve(name)
    if (starved.size > 0) serveAll()
    deps.flush()
  }

  function lookAt(name: string): StarvedSite {
    const [sharers, rank] = [budgets.sharers(name), budgets.rank(name)]
    return { name, sharers, rank, queueClass: classOf(name) }
  }

  function classOf(name: string): number {
    return siteOf(name).waiting.peek()?.work.queueClass ?? 0
  }

  /** For the first of so many sites that lack the same. */
  function makeRoom(name: string, sharers: ReadonlySet<string>, count: number): void {
    const at = now()
    const holding = allocations.sites().filter((other) => sharers.has(other))
    const isOnItsWay = (other: string) =>
      allocations.isLowering(other) && at - siteOf(other).loweredAt < GIVE_UP_MS
    if (holding.filter(isOnItsWay).length >= Math.min(count, MAX_AWAITED)) return
    const { addresses } = siteOf(name)
    const holders = holding.map((other) => holderOf(other, addresses))
    const starving = { since: starved.get(name) ?? at, isUrgent: classOf(name) === 1, now: at }
    for (const { site, connections, isCut } of chooseReclaim(holders, starving, count))
      takeBack(site, connections, isCut)
  }

  function holderOf(name: string, addresses: readonly string[]): Holder {
    const site = siteOf(name)
    return {
      site: name,
      connections: allocations.total(name),
      isIdle: site.jobCount === 0,
      isLowering: allocations.isLowering(name),
      silentSince: site.isHeard ? null : site.servedSince,
      cuts: cuts.get(name) ?? 0,
      isSameServer: site.addresses.some((address) => addresses.includes(address)),
    }
  }

  function takeBack(name: string, connections: number, isCut: boolean): void {
    deps.lower(name, connections)
    siteOf(name).loweredAt = now()
    if (!isCut) return
    cuts.set(name, (cuts.get(name) ?? 0) + 1)
    for (const thread of allocations.threads(name)) thread.post({ type: 'cut', site: name })
  }

  return {
    has: (site) => starved.has(site),
    size: () => starved.size,
    note(site, isStarved) {
      if (!isStarved) starved.delete(site)
      else if (!starved.has(site)) starved.set(site, now())
    },
    serveAll,
    listSince: (ms) => {
      const before = now() - ms
      return [...starved].flatMap(([name, since]) => (since < before ? name : []))
    },
    isCut: (site) => cuts.has(site),
    forgive: (site) => cuts.delete(site),
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Urgent mail first, then what holds less, then what has waited longest. */
function compare(left: StarvedSite, right: StarvedSite): number {
  return left.queueClass - right.queueClass || left.rank - right.rank
}

function inOrder(starving: readonly StarvedSite[]): StarvedSite[] {
  return starving.toSorted(compare)
}
