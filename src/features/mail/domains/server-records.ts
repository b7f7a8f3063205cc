/**
 * Checks the DNS records of the server itself: the addresses of its name, the PTR records of its
 * addresses, and the MX of the server's return path, which receives bounces of domains without a
 * return-path record of their own.
 */

import ipaddr from 'ipaddr.js'
import type { Config } from '../../../config/config.ts'
import type { DnsAnswer } from '../../../outbound/dns/answer.ts'
import { isPublicAddress } from '../../../outbound/routing/addresses.ts'
import type { RecordFinding } from '../../../store/schema/json-values.ts'
import type { Base } from '../../ground/base.ts'

export type ServerRecord = Pick<RecordFinding, 'state' | 'found'> & {
  name: string
  type: 'A' | 'AAAA' | 'PTR' | 'MX'
  /** The expected value; null when any value is correct. */
  value: string | null
  /** Needed for sending; an IPv6 address is optional. */
  required: boolean
}

type Deps = Pick<Base, 'config' | 'resolver'>

/** Queries the name servers for the records, past the resolver's cache. */
export async function checkServerRecords(deps: Deps): Promise<ServerRecord[]> {
  const { hostname } = deps.config.delivery
  const addresses = await Promise.all([
    checkAddress(deps, { name: hostname, type: 'A' }),
    checkAddress(deps, { name: hostname, type: 'AAAA' }),
  ])
  const own = ownAddresses(
    deps.config,
    addresses.flatMap(({ found }) => found),
  )
  const names = await Promise.all(own.map((address) => checkName(deps, address)))
  return [...addresses, ...names, await checkReturnPath(deps)]
}

/**
 * Returns the addresses that other servers see this server come from: `delivery.public_addresses`,
 * else the public ones of `delivery.source_addresses`, else `ofHostname`, the addresses of
 * `delivery.hostname` in DNS.
 */
export function ownAddresses(
  { delivery }: Pick<Config, 'delivery'>,
  ofHostname: readonly string[],
): readonly string[] {
  const { publicAddresses, sourceAddresses } = delivery
  if (publicAddresses.length > 0) return publicAddresses
  const sources = sourceAddresses.filter(isPublicAddress)
  return sources.length > 0 ? sources : ofHostname
}

/**
 * Returns the name in DNS that stands for an address: the name of the PTR record (RFC 1035 section 3.5, RFC 3596
 * section 2.5).
 */
export function reverseNameOf(address: string): string {
  const zone = ipaddr.process(address).kind() === 'ipv4' ? 'in-addr.arpa' : 'ip6.arpa'
  return `${reversedLabels(address)}.${zone}`
}

/** The octets of an IPv4 address, or the nibbles of an IPv6 address, the last one first. */
export function reversedLabels(address: string): string {
  const parsed = ipaddr.process(address)
  const octets = parsed.toByteArray()
  if (parsed.kind() === 'ipv4') return octets.reverse().join('.')
  const nibbles = octets.flatMap((octet) => [octet >> 4, octet & 15])
  return nibbles
    .map((nibble) => nibble.toString(16))
    .reverse()
    .join('.')
}

async function checkAddress(
  { resolver }: Deps,
  { name, type }: { name: string; type: 'A' | 'AAAA' },
): Promise<ServerRecord> {
  const fresh = { isFresh: true }
  const answer = await (type === 'A' ? resolver.a(name, fresh) : resolver.aaaa(name, fresh))
  const record = { name, type, value: null, required: type === 'A' }
  if (answer.kind !== 'found') return { ...record, ...absence(answer) }
  return { ...record, state: 'found', found: [...answer.records] }
}

async function checkName({ config, resolver }: Deps, address: string): Promise<ServerRecord> {
  const { hostname } = config.delivery
  const name = reverseNameOf(address)
  const record = { name, type: 'PTR', value: hostname, required: true } as const
  const answer = await resolver.ptr(name, { isFresh: true })
  if (answer.kind !== 'found') return { ...record, ...absence(answer) }
  const isRight = answer.records.includes(hostname)
  return { ...record, state: isRight ? 'found' : 'different', found: [...answer.records] }
}

async function checkReturnPath({ config, resolver }: Deps): Promise<ServerRecord> {
  const { hostname, returnPathDomain: name } = config.delivery
  const record = { name, type: 'MX', value: `10 ${hostname}`, required: true } as const
  const answer = await resolver.mx(name, { isFresh: true })
  if (answer.kind !== 'found') return { ...record, ...absence(answer) }
  const isRight = answer.records.some(({ host }) => host === hostname)
  const found = answer.records.map(({ preference, host }) => `${preference} ${host || '.'}`)
  return { ...record, state: isRight ? 'found' : 'different', found }
}

function absence(answer: DnsAnswer<unknown>): Pick<RecordFinding, 'state' | 'found'> {
  return { state: answer.kind === 'failed' ? 'unknown' : 'missing', found: [] }
}
