/**
 * The destinations of domains. In mode `direct` mail goes to the domain's own servers, in mode `relay`
 * to the smarthost, in mode `sandbox` to the sandbox's server. A destination is cached as long as the DNS
 * records that it came from.
 */
import { createLru } from '../../base/lru.ts'
import {
  closedDestination,
  type Destination,
  type DestinationDeps,
  type OpenDestination,
} from './destination.ts'
import { findMxDestination, type PendingLookup } from './mx-destination.ts'
import { findSmarthostAddresses } from './smarthost-address.ts'

export type Destinations = {
  /** Returns the destination if it is cached. */
  find(domain: string): Destination | undefined
  resolve(domain: string): Promise<Destination>
  /** Returns the site of the last destination found, even if it has expired; else the domain. */
  siteOf(domain: string): string
}

const MAX_DESTINATIONS = 20_000

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

/** A copy without the room for more elements that an array which grew has. */
function exact<T>(list: readonly T[]): readonly T[] {
  return list.slice()
}
