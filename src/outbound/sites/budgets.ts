/**
 * Limits that sites share, in addition to the limit of each site, so that no site, no server behind
 * many names and no project can take all connections:
 *
 * - one remote address, and one network (/24, /48), has as many connections as one site may have;
 *   well-known providers have limits of their own instead;
 * - sites that have sent no greeting hold at most a quarter of all connections; those among them
 *   that were silent the last time hold at most half of that, and half of the connections of each
 *   network;
 * - sites that have never replied about a message leave a quarter to those that have;
 * - a project has at most three times as many connections as are free, so that some remain for
 *   others.
 *
 * The connections of idle sites count as free: they are released when another site needs them. A
 * site's connections count in full for each of its addresses, since this module does not know which
 * address is tried.
 */
import ipaddr from 'ipaddr.js'
import type { SiteStanding } from './shaping.ts'

export type SiteFacts = {
  /**
   * The addresses of the site's servers. If there are none, no connection of the site counts by address.
   */
  addresses: readonly string[]
  /** The project to which all mail of the site belongs; null = several projects. */
  projectId: string | null
  /** The site has sent a greeting, or replied, and has not been silent since. */
  hasGreeted: boolean
  standing: SiteStanding
  /** The site has no mail. */
  isIdle: boolean
}

export type ConnectionBudgets = {
  /** Sets the facts of a site and how many connections it holds. */
  update(site: string, facts: SiteFacts, connections: number): void
  /** How many of all connections are free or idle. */
  free(): number
  /**
   * How many connections are free for mail of the project to a site with these facts, with those that idle
   * sites can release. The limits of its servers, their networks and silent sites do not count.
   */
  poolCapacity(facts: Pick<SiteFacts, 'hasGreeted' | 'standing'> & { projectId: string }): number
  /** Whether the limit of the site's servers, of their networks or of silent sites is reached. */
  isLocallyFull(site: string): boolean
  /** How many more connections a known site may have, with those that idle sites can release. */
  capacity(site: string): number
  /**
   * The site that has been idle for longest among those that must release their connections before
   * the site may have `count` more; undefined if none must.
   */
  findIdle(site: string, count: number): string | undefined
  /** The sites that share this site's first exhausted budget; undefined if none is exhausted. */
  sharers(site: string): ReadonlySet<string> | undefined
  /**
   * The site with the lowest rank gets a free connection first. The rank counts the connections to
   * its busiest address, then those of its project.
   */
  rank(site: string): number
  forget(site: string): void
}

/** `idle`: how many of the used connections idle sites hold. */
type Budget = { name: string; used: number; idle: number; limit(): number; sites: Set<string> }
type SiteBudgets = {
  facts: SiteFacts
  connections: number
  /** All budgets of the site. The order matters: `sharers` takes the first exhausted budget. */
  budgets: readonly Budget[]
  /** The budgets of the addresses of the site's servers. */
  servers: readonly Budget[]
  /** The budgets of the site's servers, of their networks and of silent sites. */
  local: readonly Budget[]
  /** The budget of the project that all mail of the site belongs to. */
  project: Budget | undefined
}

export const SHARE_OF_PROJECT = 3

export function createBudgets(options: {
  maxConnections: number
  maxPerSite: number
}): ConnectionBudgets {
  const { maxConnections, maxPerSite } = options
  const entries = new Map<string, SiteBudgets>()
  const named = new Map<string, Budget>()
  /** The sites with idle connections; the site that has been idle for longest comes first. */
  const idle = new Set<string>()
  const atLeastOne = (part: number) => Math.max(1, Math.floor(part))
  const all = fixed('all', maxConnections)
  const ungreeted = fixed('ungreeted', atLeastOne(maxConnections / 4))
  const silent = fixed('silent', atLeastOne(maxConnections / 8))
  const unproven = fixed('unproven', maxConnections - Math.floor(maxConnections / 4))

  function byName(name: string, limit: Budget['limit']): Budget {
    const budget = named.get(name) ?? { name, used: 0, idle: 0, limit, sites: new Set() }
    named.set(name, budget)
    return budget
  }

  /**
   * The project may take a connection while it has fewer than `SHARE_OF_PROJECT` times the free
   * ones.
   */
  function ofProject(projectId: string): Budget {
    const budget = byName(
      nameOfProject(projectId),
      () =>
        budget.used +
        Math.ceil((SHARE_OF_PROJECT * freeOf(all) - budget.used) / (SHARE_OF_PROJECT + 1)),
    )
    return budget
  }

  function budgetsOf({ addresses, projectId, hasGreeted, standing }: SiteFacts) {
    const networks = [...new Set(addresses.map(networkOf))]
    const isSilent = standing === 'silent' && !hasGreeted
    const servers = addresses.map((address) => byName(address, () => maxPerSite))
    const project = projectId === null ? undefined : ofProject(projectId)
    const ofNetworks = networks.flatMap((network) => [
      byName(network, () => maxPerSite),
      ...(isSilent ? [byName(`silent ${network}`, () => atLeastOne(maxPerSite / 2))] : []),
    ])
    const ofSilent = isSilent ? [silent] : []
    const budgets = [
      all,
      ...(hasGreeted ? [] : [ungreeted]),
      ...ofSilent,
      ...(standing === 'replied' ? [] : [unproven]),
      ...(project === undefined ? [] : [project]),
      ...servers,
      ...ofNetworks,
    ]
    const local = [...ofSilent, ...servers, ...ofNetworks]
    return { budgets, servers, local, project }
  }

  function forget(site: string): void {
    const entry = entries.get(site)
    if (entry === undefined) return
    entries.delete(site)
    idle.delete(site)
    count(entry, -entry.connections)
    for (const budget of entry.budgets) {
      budget.sites.delete(site)
      if (budget.sites.size === 0) named.delete(budget.name)
    }
  }

  function update(site: string, facts: SiteFacts, connections: number): void {
    const known = entries.get(site)
    if (known !== undefined && isSame(known.facts, facts)) {
      count(known, connections - known.connections)
      known.connections = connections
      if (connections === 0) idle.delete(site)
      return
    }
    forget(site)
    const entry = { facts, connections, ...budgetsOf(facts) }
    entries.set(site, entry)
    count(entry, connections)
    for (const budget of entry.budgets) budget.sites.add(site)
    if (facts.isIdle && connections > 0) idle.add(site)
  }

  function findIdle(site: string, more: number): string | undefined {
    for (const budget of entries.get(site)?.budgets ?? []) {
      if (budget.idle === 0 || budget.used + more <= budget.limit()) continue
      const longest = idle.values().find((other) => budget.sites.has(other))
      if (longest !== undefined) return longest
    }
    return undefined
  }

  return {
    update,
    forget,
    findIdle,
    free: () => freeOf(all),
    poolCapacity({ projectId, hasGreeted, standing }) {
      const project = named.get(nameOfProject(projectId))
      return leastFree([
        all,
        ...(hasGreeted ? [] : [ungreeted]),
        ...(standing === 'replied' ? [] : [unproven]),
        ...(project === undefined ? [] : [project]),
      ])
    },
    isLocallyFull: (site) => leastFree(entries.get(site)?.local ?? []) === 0,
    capacity: (site) => leastFree(entries.get(site)?.budgets ?? []),
    rank(site) {
      const entry = entries.get(site)
      let busiest = 0
      for (const { used } of entry?.servers ?? []) busiest = Math.max(busiest, used)
      return busiest * (maxConnections + 1) + (entry?.project?.used ?? 0)
    },
    sharers: (site) => entries.get(site)?.budgets.find((budget) => freeOf(budget) <= 0)?.sites,
  }
}

function freeOf({ used, idle, limit }: Budget): number {
  return limit() - used + idle
}

/** The free connections of the budget that has the fewest: never negative; infinite without a budget. */
function leastFree(budgets: readonly Budget[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const budget of budgets) least = Math.min(least, freeOf(budget))
  return Math.max(0, least)
}

function nameOfProject(projectId: string): string {
  return `project ${projectId}`
}

/** Counts more connections of the site, or fewer, in all of its budgets. */
function count({ facts, budgets }: SiteBudgets, change: number): void {
  for (const budget of budgets) {
    budget.used += change
    if (facts.isIdle) budget.idle += change
  }
}

function fixed(name: string, limit: number): Budget {
  return { name, used: 0, idle: 0, limit: () => limit, sites: new Set() }
}

function isSame(left: SiteFacts, right: SiteFacts): boolean {
  return (
    left.addresses === right.addresses &&
    left.projectId === right.projectId &&
    left.hasGreeted === right.hasGreeted &&
    left.standing === right.standing &&
    left.isIdle === right.isIdle
  )
}

/** Returns the network of an address: /24, or /48 in IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`
  const [first, second, third] = ipaddr.IPv6.parse(address).parts
  return `${[first, second, third].map((part) => part?.toString(16)).join(':')}::/48`
}
