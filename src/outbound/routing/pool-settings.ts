/**
 * The settings of the connections that a delivery may use: its destination, the source address, and
 * whether TLS is possible. Deliveries with the same settings share connections.
 *
 * The source address depends only on the email and its site, so every attempt comes from the same
 * address, as greylisting expects, and nothing needs to be stored. It changes only when a site
 * refuses an address: mail to that site does not use the address for six hours.
 */
import { createHash } from 'node:crypto'
import { DAY_MS, HOUR_MS, type Now } from '../../base/clock.ts'
import { createLru } from '../../base/lru.ts'
import type { PoolSettings, SourceAddresses } from '../protocol.ts'
import type { Shaping } from '../sites/shaping.ts'
import type { OpenDestination } from './destination.ts'

type SourceChooser = {
  choose(emailId: string, site: string): SourceAddresses
  /** A site refused a source address. Returns false if there is no other one to send from. */
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
  shaping: Pick<Shaping, 'requiresTls' | 'messagesPerConnection'>
  sources: Pick<SourceChooser, 'choose'>
  brokenTls: Pick<BrokenTls, 'has'>
  receivedDomains: ReadonlySet<string>
}

type PoolChooser = (email: { emailId: string; domain: string }) => PoolSettings

const REFUSED_FOR_MS = 6 * HOUR_MS
const MAX_REFUSALS = 10_000
const BROKEN_FOR_MS = 3 * DAY_MS
const MAX_BROKEN_HOSTS = 10_000

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

/** `addresses`: `delivery.source_addresses`. */
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
