/**
 * The destinations of domains, and the settings of the connections to them.
 *
 * In mode `direct` mail goes to the domain's own servers, in mode `relay` to the smarthost, in mode
 * `sandbox` to the sandbox's server. A destination is cached as long as the DNS records that it came
 * from.
 *
 * Deliveries with the same settings share connections. The source address depends only on the email
 * and its site, so every attempt comes from the same address, as greylisting expects, and nothing
 * needs to be stored. It changes only when a site refuses an address: mail to that site does not use
 * the address for six hours.
 */

import { createHash } from 'node:crypto'
import { DAY_MS, HOUR_MS, type Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { createLru } from '../../base/lru.ts'
import type { DeliveryTask } from '../delivery.ts'
import type { PoolSettings, SourceAddresses } from '../protocol.ts'
import type { SiteShaping } from '../sites/shaping.ts'
import type { Destination, DestinationDeps, OpenDestination } from './destination.ts'
import { findMxDestination, findSmarthost, type PendingLookup } from './find-destination.ts'

export type Destinations = {
  /** Returns the destination if it is cached. */
  find(domain: string): Destination | undefined
  resolve(domain: string): Promise<Destination>
  /** Returns the site of the last destination found, even if it has expired; else the domain. */
  siteOf(domain: string): string
  /** As `siteOf`; undefined for a domain without a known site, and where mail goes to one place. */
  knownSiteOf(domain: string): string | undefined
  /** The domains with a known site, at most some ten thousand. */
  knownSites(): Iterable<readonly [domain: string, site: string]>
}

const MAX_DESTINATIONS = 20_000

type ResolvingDeps = {
  destinations: Pick<Destinations, 'resolve'>
  log: Log
  now: Now
  resolved(tasks: readonly DeliveryTask[], destination: Destination): void
  /** The look-up failed by a fault of this program. */
  failed(tasks: readonly DeliveryTask[]): void
}

type Resolving = {
  /** Resolves the domain of the tasks, then calls `resolved` or `failed`. */
  add(domain: string, tasks: readonly DeliveryTask[]): void
  /** The task of an email, and since when (epoch ms) it waits. */
  find(emailId: string): { task: DeliveryTask; since: number } | undefined
  /** How many domains are being looked up for tasks of a project and class. */
  count(owner: Pick<DeliveryTask, 'projectId' | 'queueClass'>): number
  /** Returns the tasks that match; neither `resolved` nor `failed` is called for them. */
  take(test: (task: DeliveryTask) => boolean): DeliveryTask[]
}

type TaskGroup = { tasks: readonly DeliveryTask[]; since: number }

type SourceChooser = {
  choose(emailId: string, site: string): SourceAddresses
  /** Call this when a site refused a source address. Returns false if there is no other address to send from. */
  refuse(site: string, address: string): boolean
}

/**
 * Hosts that offer STARTTLS and break the handshake: for three days, sessions with them use no TLS.
 */
type BrokenTls = {
  add(host: string): void
  has(host: string): boolean
}

type PoolDeps = {
  shaping: Pick<SiteShaping, 'requiresTls' | 'messagesPerConnection'>
  sources: Pick<SourceChooser, 'choose'>
  brokenTls: Pick<BrokenTls, 'has'>
  receivedDomains: ReadonlySet<string>
}

type PoolChooser = (email: { emailId: string; domain: string }) => PoolSettings

const REFUSED_FOR_MS = 6 * HOUR_MS
const MAX_REFUSALS = 10_000
const BROKEN_FOR_MS = 3 * DAY_MS
const MAX_BROKEN_HOSTS = 10_000

export function createDestinations(deps: DestinationDeps): Destinations {
  const known = createLru<Destination>(MAX_DESTINATIONS)
  const open = new Map<string, Promise<Destination>>()
  const { mode } = deps.config.delivery
  const findKnown = (key: string) => {
    const destination = known.get(key)
    return destination !== undefined && destination.expiresAt > deps.now() ? destination : undefined
  }
  const resolveNow = async (key: string, make: () => Promise<Destination>) => {
    const destination = await make().finally(() => open.delete(key))
    known.set(key, destination)
    return destination
  }
  const resolve = (key: string, make: () => Promise<Destination>) => {
    const destination = findKnown(key)
    if (destination !== undefined) return Promise.resolve(destination)
    const running = open.get(key) ?? resolveNow(key, make)
    open.set(key, running)
    return running
  }
  const noSites = { knownSiteOf: () => undefined, knownSites: () => [] }
  if (mode === 'sandbox') {
    const destination = sandboxDestination(deps.sandboxPort)
    return {
      find: () => destination,
      resolve: () => Promise.resolve(destination),
      siteOf: () => 'sandbox',
      ...noSites,
    }
  }
  if (mode === 'relay') {
    return {
      find: () => findKnown('relay'),
      resolve: () => resolve('relay', () => timed(deps, (lookup) => findSmarthost(deps, lookup))),
      siteOf: () => 'relay',
      ...noSites,
    }
  }
  const siteIn = (destination: Destination | undefined) =>
    destination?.kind === 'open' ? destination.site : undefined
  return {
    find: findKnown,
    siteOf: (domain) => siteIn(known.get(domain)) ?? domain,
    // Who looks keeps no destination from being forgotten.
    knownSiteOf: (domain) => siteIn(known.peek(domain)),
    *knownSites() {
      for (const [domain, destination] of known.entries()) {
        const site = siteIn(destination)
        if (site !== undefined) yield [domain, site]
      }
    },
    resolve: (domain) =>
      resolve(domain, () => timed(deps, (lookup) => findMxDestination(deps, domain, lookup))),
  }
}

function sandboxDestination(port: number | null): OpenDestination {
  if (port === null) throw new TypeError('delivery.mode is sandbox and there is no sink')
  const targets = [{ host: 'sandbox', address: '127.0.0.1', preference: 0 }]
  const shared = { kind: 'open', mode: 'sandbox', lookup: null, expiresAt: Infinity } as const
  return { ...shared, site: 'sandbox', key: `sandbox ${port}`, port, targets }
}

async function timed(
  { now }: Pick<DestinationDeps, 'now'>,
  find: (lookup: PendingLookup) => Promise<Destination>,
): Promise<Destination> {
  const lookup: PendingLookup = { at: now(), durationMs: 0, hosts: [] }
  const destination = await find(lookup)
  const { at, hosts } = lookup
  const made = { at, durationMs: now() - at, hosts: exact(hosts) }
  if (destination.kind === 'closed') return { ...destination, lookup: made }
  return { ...destination, targets: exact(destination.targets), lookup: made }
}

/** Copies an array, to save memory: an array that grew keeps memory for more elements than it has. */
function exact<T>(list: readonly T[]): readonly T[] {
  return list.slice()
}

/** Keeps the tasks that wait for their destination, with one look-up for all tasks of a domain. */
export function createResolving(deps: ResolvingDeps): Resolving {
  const groups = new Set<TaskGroup>()
  return {
    add(domain, tasks) {
      const group: TaskGroup = { tasks, since: deps.now() }
      groups.add(group)
      deps.destinations.resolve(domain).then(
        (destination) => {
          if (groups.delete(group)) deps.resolved(group.tasks, destination)
        },
        (error: unknown) => {
          const facts = { domain, error: describeError(error) }
          deps.log.error(facts, 'a destination could not be resolved')
          if (groups.delete(group)) deps.failed(group.tasks)
        },
      )
    },
    find(emailId) {
      for (const { tasks, since } of groups) {
        const task = tasks.find((one) => one.emailId === emailId)
        if (task !== undefined) return { task, since }
      }
      return undefined
    },
    count({ projectId, queueClass }) {
      const domains = new Set<string>()
      for (const { tasks } of groups)
        for (const task of tasks)
          if (task.projectId === projectId && task.queueClass === queueClass)
            domains.add(task.domain)
      return domains.size
    },
    take(test) {
      const taken: DeliveryTask[] = []
      for (const group of groups) {
        taken.push(...group.tasks.filter(test))
        group.tasks = group.tasks.filter((task) => !test(task))
        if (group.tasks.length === 0) groups.delete(group)
      }
      return taken
    },
  }
}

/** Returns a function that chooses the settings for each email of a destination. */
export function createPoolChooser(deps: PoolDeps, destination: OpenDestination): PoolChooser {
  const pools = new Map<string, PoolSettings>()
  return ({ emailId, domain }) => {
    const source = deps.sources.choose(emailId, destination.site)
    const isReceivedHere = deps.receivedDomains.has(domain)
    const key = keyOf(destination, source, isReceivedHere)
    const known = pools.get(key)
    if (known !== undefined) return known
    const pool = makePoolSettings(deps, destination, { key, source, isReceivedHere })
    pools.set(key, pool)
    return pool
  }
}

function keyOf(
  { key }: OpenDestination,
  { ipv4, ipv6 }: SourceAddresses,
  isReceivedHere: boolean,
): string {
  return [key, ipv4 ?? '', ipv6 ?? '', isReceivedHere ? 'received here' : ''].join('|')
}

function makePoolSettings(
  { shaping, brokenTls }: PoolDeps,
  { site, mode, port, targets }: OpenDestination,
  own: Pick<PoolSettings, 'key' | 'source' | 'isReceivedHere'>,
): PoolSettings {
  const hosts = new Set(targets.map(({ host }) => host))
  return {
    ...own,
    site,
    mode,
    port,
    targets,
    brokenTls: [...hosts].filter(brokenTls.has),
    requiresTls: shaping.requiresTls(site),
    messagesPerConnection: shaping.messagesPerConnection(site),
  }
}

/** Returns a function that chooses source addresses. `addresses`: the setting `delivery.source_addresses`. */
export function createSourceChooser(addresses: readonly string[], now: Now): SourceChooser {
  const refused = createLru<number>(MAX_REFUSALS)
  const ipv4 = addresses.filter((address) => !address.includes(':'))
  const ipv6 = addresses.filter((address) => address.includes(':'))
  const isUsable = (site: string, address: string) =>
    (refused.get(`${site} ${address}`) ?? 0) <= now()

  function pick(list: readonly string[], emailId: string, site: string): string | undefined {
    if (list.length < 2) return list[0]
    const usable = list.filter((address) => isUsable(site, address))
    const ranked = (usable.length > 0 ? usable : list).map((address) => ({
      address,
      rank: createHash('sha256').update(`${emailId} ${address}`).digest('hex'),
    }))
    return ranked.reduce((best, one) => (one.rank > best.rank ? one : best)).address
  }

  function choose(emailId: string, site: string): SourceAddresses {
    const source: SourceAddresses = {}
    const [first, second] = [pick(ipv4, emailId, site), pick(ipv6, emailId, site)]
    if (first !== undefined) source.ipv4 = first
    if (second !== undefined) source.ipv6 = second
    return source
  }

  function refuse(site: string, address: string): boolean {
    refused.set(`${site} ${address}`, now() + REFUSED_FOR_MS)
    const family = address.includes(':') ? ipv6 : ipv4
    return family.some((other) => isUsable(site, other))
  }

  return { choose, refuse }
}

export function createBrokenTls(now: Now): BrokenTls {
  const until = createLru<number>(MAX_BROKEN_HOSTS)
  return {
    add(host) {
      until.set(host, now() + BROKEN_FOR_MS)
    },
    has: (host) => (until.get(host) ?? 0) > now(),
  }
}
