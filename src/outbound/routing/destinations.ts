/**
 * The destinations of domains. In mode `direct` mail goes to the domain's own servers, in mode `relay`
 * to the smarthost, in mode `sandbox` to the sandbox's server. A destination is cached as long as the DNS
 * records that it came from.
 */

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { MINUTE_MS, type Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { createLru } from '../../base/lru.ts'
import type { DeliveryTask } from '../delivery.ts'
import type { Resolver } from '../dns/resolver.ts'
import {
  closedDestination,
  type Destination,
  type DestinationDeps,
  type OpenDestination,
} from './destination.ts'
import { findMxDestination, type PendingLookup } from './mx-destination.ts'

export type Destinations = {
  /** Returns the destination if it is cached. */
  find(domain: string): Destination | undefined
  resolve(domain: string): Promise<Destination>
  /** Returns the site of the last destination found, even if it has expired; else the domain. */
  siteOf(domain: string): string
}

const MAX_DESTINATIONS = 20_000

/** `error`: why there is no address. `expiresAt`: epoch ms. */
type SmarthostAddresses = { addresses: string[]; error: string | null; expiresAt: number }

const SYSTEM_ANSWER_MS = MINUTE_MS
const FAILURE_MS = 10_000

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
  /** How many domains are looked up for tasks of a project and class. */
  count(owner: Pick<DeliveryTask, 'projectId' | 'queueClass'>): number
  /** Returns the tasks that match; neither `resolved` nor `failed` is called for them. */
  take(test: (task: DeliveryTask) => boolean): DeliveryTask[]
}

type TaskGroup = { tasks: readonly DeliveryTask[]; since: number }

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
  if (mode === 'sandbox') {
    const destination = sandboxDestination(deps.sandboxPort)
    return {
      find: () => destination,
      resolve: () => Promise.resolve(destination),
      siteOf: () => 'sandbox',
    }
  }
  if (mode === 'relay') {
    return {
      find: () => findKnown('relay'),
      resolve: () => resolve('relay', () => findSmarthost(deps)),
      siteOf: () => 'relay',
    }
  }
  return {
    find: findKnown,
    siteOf(domain) {
      const destination = known.get(domain)
      return destination?.kind === 'open' ? destination.site : domain
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

async function findSmarthost(deps: DestinationDeps): Promise<Destination> {
  const { relay } = deps.config.delivery
  if (relay === null) throw new TypeError('delivery.mode is relay and delivery.relay is not set')
  return timed(deps, async (lookup) => {
    lookup.hosts.push(relay.host)
    const found = await findSmarthostAddresses(deps, relay.host)
    if (found.addresses.length === 0) {
      const error = `no address for the smarthost ${relay.host}`
      return { ...closedDestination('dns', error, found.expiresAt), site: 'relay' }
    }
    const targets = found.addresses.map((address) => ({ host: relay.host, address, preference: 0 }))
    return {
      kind: 'open',
      mode: 'relay',
      site: 'relay',
      key: 'relay',
      port: relay.port,
      targets,
      lookup,
      expiresAt: found.expiresAt,
    }
  })
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

/** Copies an array: one that grew keeps memory for more elements, and its copy does not. */
function exact<T>(list: readonly T[]): readonly T[] {
  return list.slice()
}

/** Finds the addresses of the smarthost: a literal, a DNS name, or a name of this system only. */
async function findSmarthostAddresses(
  { resolver, now }: { resolver: Pick<Resolver, 'a' | 'aaaa'>; now: Now },
  host: string,
): Promise<SmarthostAddresses> {
  if (isIP(host) !== 0) return { addresses: [host], error: null, expiresAt: Infinity }
  const options = { isUnjudged: true }
  const answers = await Promise.all([resolver.a(host, options), resolver.aaaa(host, options)])
  const found = answers.filter((answer) => answer.kind === 'found')
  if (found.length === 0) return querySystem(host, now)
  const addresses = found.flatMap(({ records }) => records)
  return { addresses, error: null, expiresAt: Math.min(...found.map((one) => one.expiresAt)) }
}

/** Queries the system, which also resolves the hosts file, container networks and `localhost`. */
async function querySystem(host: string, now: Now): Promise<SmarthostAddresses> {
  try {
    const found = await lookup(host, { all: true })
    const addresses = found.map(({ address }) => address)
    return { addresses, error: null, expiresAt: now() + SYSTEM_ANSWER_MS }
  } catch (error) {
    return { addresses: [], error: describeError(error), expiresAt: now() + FAILURE_MS }
  }
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
