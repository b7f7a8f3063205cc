/**
 * Where the mail of a domain goes. `direct`: to its own mail servers. `relay`: to the smarthost.
 * `sandbox`: to our own sink. What was found is kept as long as the records it came from.
 */
import { LRUCache } from 'lru-cache'
import {
  closedDestination,
  type Destination,
  type DestinationDeps,
  type OpenDestination,
} from './destination.ts'
import { findMxDestination, type PendingLookup } from './mx-destination.ts'
import { findSmarthostAddresses } from './smarthost-address.ts'

export type Destinations = {
  /** What is known now, without asking. */
  find(domain: string): Destination | undefined
  look(domain: string): Promise<Destination>
  /** Of the last route that was found, though it may be old; the domain itself when there is none. */
  siteOf(domain: string): string
}

const MAX_ROUTES = 50_000

export function createDestinations(deps: DestinationDeps): Destinations {
  const known = new LRUCache<string, Destination>({ max: MAX_ROUTES })
  const open = new Map<string, Promise<Destination>>()
  const { mode } = deps.config.delivery
  const findKnown = (key: string) => {
    const route = known.get(key)
    return route !== undefined && route.expiresAt > deps.now() ? route : undefined
  }
  const ask = async (key: string, make: () => Promise<Destination>) => {
    const route = await make().finally(() => open.delete(key))
    known.set(key, route)
    return route
  }
  const look = (key: string, make: () => Promise<Destination>) => {
    const route = findKnown(key)
    if (route !== undefined) return Promise.resolve(route)
    const asked = open.get(key) ?? ask(key, make)
    open.set(key, asked)
    return asked
  }
  if (mode === 'sandbox') {
    const route = sandboxRoute(deps.sandboxPort)
    return { find: () => route, look: () => Promise.resolve(route), siteOf: () => 'sandbox' }
  }
  if (mode === 'relay') {
    return {
      find: () => findKnown('relay'),
      look: () => look('relay', () => findRelayRoute(deps)),
      siteOf: () => 'relay',
    }
  }
  return {
    find: findKnown,
    siteOf(domain) {
      const route = known.get(domain)
      return route?.kind === 'open' ? route.site : domain
    },
    look: (domain) =>
      look(domain, () => timed(deps, (lookup) => findMxDestination(deps, domain, lookup))),
  }
}

function sandboxRoute(port: number | null): OpenDestination {
  if (port === null) throw new TypeError('delivery.mode is sandbox and there is no sink')
  const targets = [{ host: 'sandbox', address: '127.0.0.1', preference: 0 }]
  const shared = { kind: 'open', mode: 'sandbox', lookup: null, expiresAt: Infinity } as const
  return { ...shared, site: 'sandbox', key: `sandbox ${port}`, port, targets }
}

async function findRelayRoute(deps: DestinationDeps): Promise<Destination> {
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
  const route = await find(lookup)
  lookup.durationMs = now() - lookup.at
  return { ...route, lookup }
}
