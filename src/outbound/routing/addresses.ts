/**
 * Decides which addresses may be connected to. Only global unicast addresses are public. Loopback,
 * private, link-local, carrier-grade NAT, multicast and documentation addresses are not, nor is any
 * IPv6 form that stands for an IPv4 address (mapped, 6to4, Teredo, NAT64, ISATAP).
 */
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { Now } from '../../base/clock.ts'
import type { ListenAddress } from '../../config/config.ts'

/** A changed address of this host is noticed after this time at the latest. */
const FAMILIES_MS = 5_000
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
/** The interface identifier of an ISATAP address ends in an IPv4 address (RFC 5214 section 6.1). */
const ISATAP = /:(0|200):5efe:[0-9a-f]+:[0-9a-f]+$/
/**
 * The networks that `allow_private_networks` opens. Link-local ones stay closed: cloud metadata has
 * such addresses.
 */
const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'])

/** `address`: an IPv4 or IPv6 address; any other text is not public. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  if (parsed.kind() === 'ipv4') return true
  return parsed.match(GLOBAL_UNICAST) && !ISATAP.test(parsed.toNormalizedString())
}

/**
 * Whether an address is loopback, private, unique local or carrier-grade NAT. An IPv6 form of such
 * an IPv4 address does not count.
 */
export function isPrivateAddress(address: string): boolean {
  return ipaddr.isValid(address) && PRIVATE_RANGES.has(ipaddr.parse(address).range())
}

/** The address families in which this host can reach others. */
export type LocalFamilies = { hasIpv4: boolean; hasIpv6: boolean }

/**
 * Returns a function that tells the address families of this host. It reads the addresses only every few
 * seconds, because reading costs as much as a connection.
 */
export function createFamilyFinder(now: Now, find = findLocalFamilies): () => LocalFamilies {
  let found: { families: LocalFamilies; at: number } | undefined
  return () => {
    const age = now() - (found?.at ?? Number.NEGATIVE_INFINITY)
    // A clock that was set back makes the age negative.
    if (found === undefined || age < 0 || age >= FAMILIES_MS)
      found = { families: find(), at: now() }
    return found.families
  }
}

function findLocalFamilies(): LocalFamilies {
  const addresses = localAddresses().filter((address) => address.isExternal)
  return {
    hasIpv4: addresses.some(({ address }) => !address.includes(':')),
    hasIpv6: addresses.some(({ address }) => address.includes(':') && isPublicAddress(address)),
  }
}

/** Whether a connection to `address` and `port` would reach a listener of this server. */
export function isOwnListener(
  { address, port }: { address: string; port: number },
  listeners: readonly Pick<ListenAddress, 'host' | 'port'>[],
): boolean {
  return listeners.some((listener) => {
    if (listener.port !== port) return false
    if (!isWildcard(listener.host)) return sameAddress(listener.host, address)
    return (
      isLoopback(address) || localAddresses().some((local) => sameAddress(local.address, address))
    )
  })
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === ''
}

export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

function sameAddress(left: string, right: string): boolean {
  if (!ipaddr.isValid(left) || !ipaddr.isValid(right)) return left === right
  return ipaddr.process(left).toNormalizedString() === ipaddr.process(right).toNormalizedString()
}

function localAddresses(): { address: string; isExternal: boolean }[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all.map(({ address, internal }) => ({ address, isExternal: !internal }))
}
