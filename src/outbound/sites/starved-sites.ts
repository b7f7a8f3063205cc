/**
 * Sites that have mail to send and no connection, and how they get one. A free connection goes to
 * urgent mail first, then to the site whose server and project hold fewest. If none is free, busy
 * sites give up connections (`chooseReclaim`).
 *
 * There may be hundreds of such sites, and this runs in most turns of the event loop, once for all
 * results of a turn, so checking one of them must be cheap while no connection is free. While
 * nothing changes the sites are checked by a timer.
 */
import type { Now } from '../../base/clock.ts'
import { createLru } from '../../base/lru.ts'
import { type QueueClass, TRANSACTIONAL_CLASS } from '../../base/queue-class.ts'
import type { DeliveryThread } from '../protocol.ts'
import { DEFAULT_TIMEOUTS } from '../smtp/commands.ts'
import type { ConnectionBudgets } from './budgets.ts'
import type { SiteQueue } from './site-queues.ts'

/** The owner of mail: a project, with the class of the mail. */
export type MailOwner = { projectId: string; queueClass: QueueClass }

type StarvedSites = {
  /** When each starved site became starved, epoch ms. */
  since: ReadonlyMap<string, number>
  /**
   * How many starved sites have mail of this owner first in line. `limited`: how many of them wait for the
   * limit of a server, of a network or of silent sites, so that connections which other sites give up do
   * not help them.
   */
  count(owner: MailOwner): { all: number; limited: number }
  set(site: string, isStarved: boolean): void
  /** Serves every starved site, or makes other sites give up connections. */
  serveAll(): void
  /** Calls `serveAll` once all messages that have arrived are handled. */
  serveSoon(): void
  /** The sites that have been starved for at least `ms`. */
  listSince(ms: number): string[]
  /** Whether a session with the site was cut and the site has not greeted since. */
  isCut(site: string): boolean
  /** Forgets the cuts of a site that has sent a greeting. */
  forgetCuts(site: string): void
  stop(): void
}

/** The connections that sites have. */
type Allocated = {
  sites(): string[]
  total(site: string): number
  /** The threads that have connections of the site. */
  threads(site: string): DeliveryThread[]
  /** Whether a lower allocation of the site has not been confirmed yet. */
  isLowering(site: string): boolean
}

type StarvedSitesDeps = {
  allocations: Allocated
  budgets: ConnectionBudgets
  queueOf(site: string): SiteQueue
  /**
   * Allocates free connections to the site, then assigns its mail to the threads that have them.
   */
  serve(site: string): void
  lower(site: string, connections: number): void
  /** Sends the messages that `serve` has batched. */
  flush(): void
  now: Now
}

type Starved = {
  site: string
  queueClass: number
  rank: number
  /** The sites that share its first exhausted budget; undefined if none is exhausted. */
  sharers: ReadonlySet<string> | undefined
}

const CHECK_EVERY_MS = 250

/** How many connections may be on their way from busy sites at once. */
const MAX_AWAITED = 8

/** A connection is given up within this time, unless it carries a message. */
const GIVE_UP_MS = 1_000

const MAX_CUTS = 10_000

export type ConnectionHolder = {
  site: string
  connections: number
  /** The site was asked to give up connections and still has them. */
  isLowering: boolean
  /**
   * When the wait for the site's greeting began, epoch ms; null = the site has greeted, or has no session.
   */
  silentSince: number | null
  /** How often a session of the site was cut since the site last greeted. */
  cuts: number
  /** Since when the site has had connections, epoch ms; null without any. */
  servedSince: number | null
  /** The site shares an address with the starved site. */
  isSameServer: boolean
}

export type StarvingSite = { since: number; isUrgent: boolean; now: number }

/** Lowers the site to `connections`. `isCut`: its silent session ends at once. */
type Reclaim = { site: string; connections: number; isCut: boolean }

const URGENT_SILENCE_MS = 1_000

const SILENCE_MS = 30_000

const SILENCE_FACTOR = 8

const MAX_SILENCE_MS = DEFAULT_TIMEOUTS.connect + DEFAULT_TIMEOUTS.greeting + 30_000

/** How long a site waits until another site must give up its only connection. */
const MIN_URGENT_WAIT_MS = 500

const MIN_WAIT_MS = 5_000

/** How long a site keeps its only connection. */
const MIN_SERVED_MS = 1_000

export function createStarvedSites(deps: StarvedSitesDeps): StarvedSites {
  const { allocations, budgets, queueOf, now } = deps
  const starved = new Map<string, number>()
  const cuts = createLru<number>(MAX_CUTS)
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Immediate | undefined
  let isStopped = false

  function serveAll(): void {
    const sites = [...starved.keys()].map(describe)
    for (const { site } of inOrder(sites.filter(({ sharers }) => sharers === undefined)))
      deps.serve(site)
    const lacking = sites.filter(({ sharers }) => sharers !== undefined)
    for (const [sharers, some] of Map.groupBy(lacking, (one) => one.sharers)) {
      const first = some.reduce((best, one) => (compareStarved(one, best) < 0 ? one : best))
      if (sharers !== undefined) reclaimFor(first.site, sharers, some.length)
    }
    if (starved.size > 0 && !isStopped) timer ??= setTimeout(serveAgain, CHECK_EVERY_MS).unref()
  }

  function serveAgain(): void {
    timer = undefined
    for (const { site } of inOrder([...starved.keys()].map(describe))) deps.serve(site)
    if (starved.size > 0) serveAll()
    deps.flush()
  }

  function serveSoon(): void {
    if (isStopped) return
    soon ??= setImmediate(() => {
      soon = undefined
      serveAll()
      deps.flush()
    })
  }

  function describe(name: string): Starved {
    const [sharers, rank] = [budgets.sharers(name), budgets.rank(name)]
    return { site: name, sharers, rank, queueClass: classOf(name) }
  }

  function classOf(name: string): number {
    return queueOf(name).waiting.peek()?.queueClass ?? 0
  }

  /**
   * Makes other sites give up connections for `name`, the first of `count` sites that lack the same
   * budget.
   */
  function reclaimFor(name: string, sharers: ReadonlySet<string>, count: number): void {
    const at = now()
    const holding = allocations.sites().filter((other) => sharers.has(other))
    const isOnItsWay = (other: string) =>
      allocations.isLowering(other) && at - queueOf(other).loweredAt < GIVE_UP_MS
    const awaited = holding.filter(isOnItsWay).length
    // Busy sites give up connections at the end of a message: only few are asked at a time.
    if (awaited >= Math.min(count, MAX_AWAITED)) return
    const { addresses } = queueOf(name)
    const holders = holding.map((other) => holderOf(other, addresses))
    const starving = {
      since: starved.get(name) ?? at,
      isUrgent: classOf(name) === TRANSACTIONAL_CLASS,
      now: at,
    }
    const chosen = chooseReclaim(holders, starving)
    if (chosen !== null) reclaim(chosen)
  }

  function holderOf(name: string, addresses: readonly string[]): ConnectionHolder {
    const queue = queueOf(name)
    return {
      site: name,
      connections: allocations.total(name),
      isLowering: allocations.isLowering(name),
      silentSince: queue.hasGreeted ? null : queue.servedSince,
      cuts: cuts.get(name) ?? 0,
      servedSince: queue.servedSince,
      isSameServer: queue.addresses.some((address) => addresses.includes(address)),
    }
  }

  function reclaim({ site, connections, isCut }: Reclaim): void {
    deps.lower(site, connections)
    queueOf(site).loweredAt = now()
    if (!isCut) return
    cuts.set(site, (cuts.get(site) ?? 0) + 1)
    for (const thread of allocations.threads(site)) thread.postMessage({ type: 'cut', site })
  }

  function count({ projectId, queueClass }: MailOwner): { all: number; limited: number } {
    const counts = { all: 0, limited: 0 }
    for (const name of starved.keys()) {
      const first = queueOf(name).waiting.peek()
      if (first?.projectId !== projectId || first.queueClass !== queueClass) continue
      counts.all += 1
      if (budgets.isLocallyFull(name)) counts.limited += 1
    }
    return counts
  }

  return {
    since: starved,
    count,
    set(site, isStarved) {
      if (!isStarved) starved.delete(site)
      else if (!starved.has(site)) starved.set(site, now())
    },
    serveAll,
    serveSoon,
    listSince: (ms) => {
      const before = now() - ms
      return [...starved].flatMap(([name, since]) => (since < before ? name : []))
    },
    isCut: (site) => cuts.has(site),
    forgetCuts: (site) => cuts.delete(site),
    stop() {
      isStopped = true
      clearTimeout(timer)
      clearImmediate(soon)
    },
  }
}

/**
 * Decides which site gives up a connection for a starved site, which has none because busy sites use up a budget that
 * the sites share: a site that has been silent for too long, whose session is cut; else the site with the most
 * connections, after its current message. A site gives up its last connection only if the starved site has waited for
 * a while, and only after some messages: a connection that changes hands after each message costs more than it
 * carries.
 *
 * A silent site has one second if urgent mail waits, else half a minute. Some servers delay their greeting on
 * purpose, so each cut multiplies the time by eight, and their mail gets through. The longest time exceeds that in
 * which a session fails by itself, because a cut does not count as an attempt: mail whose sessions were always cut
 * would never be given up.
 *
 * `holders`: the busy sites with connections. Null: none gives up a connection now.
 */
export function chooseReclaim(
  holders: readonly ConnectionHolder[],
  starving: StarvingSite,
): Reclaim | null {
  const silent = holders
    .filter((holder) => isTooSilent(holder, starving))
    .reduce(longerSilent, null)
  if (silent !== null) return { ...oneFewer(silent), isCut: true }
  // A silent site would give up its connection only when its session fails.
  const greeted = holders.filter((one) => !one.isLowering && one.silentSince === null)
  const largest = greeted.reduce(largerOf, null)
  if (largest !== null && largest.connections > 1) return { ...oneFewer(largest), isCut: false }
  if (!mayTakeLast(starving)) return null
  const longest = greeted
    .filter((holder) => isServedLong(holder, starving))
    .reduce(servedLonger, null)
  return longest === null ? null : { ...oneFewer(longest), isCut: false }
}

/** Urgent mail first, then the lower rank; a stable sort keeps the longest wait first. */
function compareStarved(left: Starved, right: Starved): number {
  return left.queueClass - right.queueClass || left.rank - right.rank
}

function inOrder(sites: readonly Starved[]): Starved[] {
  return sites.toSorted(compareStarved)
}

function isTooSilent(
  { silentSince, cuts, isSameServer }: ConnectionHolder,
  starving: StarvingSite,
): boolean {
  if (silentSince === null || isSameServer) return false
  const base = starving.isUrgent ? URGENT_SILENCE_MS : SILENCE_MS
  return starving.now - silentSince >= Math.min(MAX_SILENCE_MS, base * SILENCE_FACTOR ** cuts)
}

function mayTakeLast({ since, isUrgent, now }: StarvingSite): boolean {
  return now - since > (isUrgent ? MIN_URGENT_WAIT_MS : MIN_WAIT_MS)
}

function isServedLong(
  { connections, servedSince }: ConnectionHolder,
  { isUrgent, now }: StarvingSite,
): boolean {
  if (connections < 1) return false
  return isUrgent || servedSince === null || now - servedSince >= MIN_SERVED_MS
}

function servedLonger(longest: ConnectionHolder | null, one: ConnectionHolder): ConnectionHolder {
  if (longest === null) return one
  return (one.servedSince ?? 0) < (longest.servedSince ?? 0) ? one : longest
}

function longerSilent(longest: ConnectionHolder | null, one: ConnectionHolder): ConnectionHolder {
  if (longest === null) return one
  return (one.silentSince ?? 0) < (longest.silentSince ?? 0) ? one : longest
}

/** Returns the site with more connections; on a tie, the earlier one. */
function largerOf(largest: ConnectionHolder | null, one: ConnectionHolder): ConnectionHolder {
  return largest === null || one.connections > largest.connections ? one : largest
}

function oneFewer({ site, connections }: ConnectionHolder) {
  return { site, connections: connections - 1 }
}
