/**
 * Finds the mail servers of a destination: the smarthost, or a domain's own ones by DNS (RFC 5321
 * section 5.1), which are its MX hosts, or the domain's own addresses if it has no MX record. A null
 * MX (RFC 7505) means that there are none.
 *
 * Mail to a domain that does not exist bounces; a failure of DNS defers it. MX hosts without any
 * address defer it, too, since such records are repaired more often than abandoned. The number of
 * records that are looked up is bounded.
 */

import { createHash } from 'node:crypto'
import { lookup as lookUpInSystem } from 'node:dns/promises'
import { isIP } from 'node:net'
import { getDomain } from 'tldts'
import { MINUTE_MS, type Now } from '../../base/clock.ts'
import type { MxRecord } from '../dns/answer.ts'
import type { Resolver } from '../dns/resolver.ts'
import { isOwnListener, isPublicAddress } from './addresses.ts'
import {
  type ClosedDestination,
  closedDestination,
  type Destination,
  type DestinationDeps,
  type DestinationLookup,
} from './destination.ts'
import { findProviderOfHost } from './providers.ts'
import type { SmtpTarget } from './targets.ts'

/** A look-up that is running; the names it queries are added to `hosts`. */
export type PendingLookup = DestinationLookup & { hosts: string[] }

/** The addresses of this many hosts are queried at once, until a host has an address. */
const HOSTS_AT_ONCE = 8
const MAX_MX_RECORDS = 512
const MAX_HOSTS = 24
const MAX_ADDRESSES_OF_HOST = 16
/**
 * How long a destination that leads back to this server is cached. The time is short, because the domain
 * will probably be added here soon.
 */
const LOOP_MS = MINUTE_MS

/** The addresses of the smarthost. `expiresAt`: epoch ms. */
type SmarthostAddresses = { addresses: string[]; expiresAt: number }

const SYSTEM_ANSWER_MS = MINUTE_MS
const FAILURE_MS = 10_000

type MxSearch = { domain: string; records: readonly MxRecord[]; lookup: PendingLookup }

type HostAddresses = {
  targets: SmtpTarget[]
  refused: string[]
  errors: string[]
  expiresAt: number
}

const MAX_NAMES = 4
const DIGEST_CHARACTERS = 12

/** `domain`: A-labels. Adds the names it queries to `lookup`. */
export async function findMxDestination(
  deps: DestinationDeps,
  domain: string,
  lookup: PendingLookup,
): Promise<Destination> {
  const answer = await deps.resolver.mx(domain)
  switch (answer.kind) {
    case 'nxdomain':
      return closedDestination(
        'unknown-host',
        `the domain ${domain} does not exist`,
        answer.expiresAt,
      )
    case 'failed':
      return closedDestination('dns', `MX of ${domain}: ${answer.error}`, answer.expiresAt)
    case 'nodata':
      return findTargets(deps, { domain, lookup, records: [{ preference: 0, host: domain }] })
    case 'found': {
      const records = answer.records.slice(0, MAX_MX_RECORDS)
      if (records.every((record) => record.host === '')) return nullMx(domain, answer.expiresAt)
      const destination = await findTargets(deps, { domain, lookup, records })
      return { ...destination, expiresAt: Math.min(destination.expiresAt, answer.expiresAt) }
    }
  }
}

async function findTargets(deps: DestinationDeps, search: MxSearch): Promise<Destination> {
  const { domain, records, lookup } = search
  const hosts = sortHosts(records, deps.random)
  const found: HostAddresses[] = []
  for (let at = 0; at < Math.min(hosts.length, MAX_HOSTS); at += HOSTS_AT_ONCE) {
    const some = hosts.slice(at, at + HOSTS_AT_ONCE)
    lookup.hosts.push(...some.map(({ host }) => host))
    found.push(...(await Promise.all(some.map((record) => findAddresses(deps, record)))))
    if (found.some(({ targets }) => targets.length > 0)) break
  }
  const expiresAt = Math.min(...found.map((host) => host.expiresAt))
  const targets = found.flatMap((host) => host.targets)
  if (targets.length === 0) return closedWithoutTargets(found, search, expiresAt)
  const others = withoutThisServer(deps, domain, targets)
  if (others.length === 0) {
    const until = Math.min(expiresAt, deps.now() + LOOP_MS)
    return closedDestination('loop', `mail for ${domain} loops back to this server`, until)
  }
  return {
    kind: 'open',
    mode: 'direct',
    site: siteOfHosts(records.map(({ host }) => host).filter((host) => host !== '')),
    key: destinationKeyOf(records),
    port: deps.config.delivery.port,
    targets: others,
    lookup,
    expiresAt,
  }
}

/** Sorts by preference, hosts of equal preference in random order. A host named twice counts once. */
function sortHosts(records: readonly MxRecord[], random: () => number): MxRecord[] {
  const keyed = records.map((record) => ({ record, key: random() }))
  keyed.sort(
    (left, right) => left.record.preference - right.record.preference || left.key - right.key,
  )
  const hosts = new Map<string, MxRecord>()
  for (const { record } of keyed) {
    const isName = record.host !== '' && isIP(record.host) === 0
    if (isName && !hosts.has(record.host)) hosts.set(record.host, record)
  }
  return [...hosts.values()]
}

async function findAddresses(
  deps: DestinationDeps,
  { host, preference }: MxRecord,
): Promise<HostAddresses> {
  const answers = await Promise.all([deps.resolver.a(host), deps.resolver.aaaa(host)])
  const addresses = answers.flatMap((answer) =>
    answer.kind === 'found' ? answer.records.slice(0, MAX_ADDRESSES_OF_HOST) : [],
  )
  const isAllowed = (address: string) =>
    deps.config.delivery.allowPrivateNetworks || isPublicAddress(address)
  const errors = answers.flatMap((answer) =>
    answer.kind === 'failed' ? [`${host}: ${answer.error}`] : [],
  )
  // A failed query matters only if the other family has no addresses either.
  const counted = addresses.length > 0 ? answers.filter(({ kind }) => kind === 'found') : answers
  return {
    targets: addresses.filter(isAllowed).map((address) => ({ host, address, preference })),
    refused: addresses.filter((address) => !isAllowed(address)),
    errors,
    expiresAt: Math.min(...counted.map(({ expiresAt }) => expiresAt)),
  }
}

function closedWithoutTargets(
  found: HostAddresses[],
  { domain, records }: MxSearch,
  expiresAt: number,
): Destination {
  const errors = found.flatMap((host) => host.errors)
  if (errors.length > 0)
    return closedDestination('dns', `addresses of ${errors.join(', ')}`, expiresAt)
  const refused = found.flatMap((host) => host.refused)
  if (refused.length > 0) {
    const error = `the mail servers of ${domain} have no public address (${refused.slice(0, 5).join(', ')}), and delivery.allow_private_networks is off`
    return { ...closedDestination('loop', error, expiresAt), result: 'failed' }
  }
  const isImplicit = records.every(({ host }) => host === domain)
  if (isImplicit) {
    return closedDestination('unknown-host', `${domain} has no MX record and no address`, expiresAt)
  }
  return closedDestination('dns', `no MX host of ${domain} has an address`, expiresAt)
}

/** Removes this server, and all hosts of its preference or a higher number (RFC 5321 section 5.1). */
function withoutThisServer(
  deps: DestinationDeps,
  domain: string,
  targets: SmtpTarget[],
): SmtpTarget[] {
  const { port } = deps.config.delivery
  const listeners = deps.inboundListeners()
  const own = targets.filter(({ address }) => isOwnListener({ address, port }, listeners))
  if (own.length === 0 || deps.receivedDomains.has(domain)) return targets
  const limit = Math.min(...own.map(({ preference }) => preference))
  return targets.filter(({ preference }) => preference < limit)
}

function nullMx(domain: string, expiresAt: number): ClosedDestination {
  const text = 'Recipient address has null MX'
  const reply = { code: 556, enhancedCode: '5.1.10', text }
  return {
    ...closedDestination('null-mx', `${domain} accepts no mail (null MX)`, expiresAt),
    reply,
  }
}

/** Finds the smarthost of mode `relay`. */
export async function findSmarthost(
  deps: DestinationDeps,
  lookup: PendingLookup,
): Promise<Destination> {
  const { relay } = deps.config.delivery
  if (relay === null) throw new TypeError('delivery.mode is relay and delivery.relay is not set')
  const { host, port } = relay
  lookup.hosts.push(host)
  const { addresses, expiresAt } = await findSmarthostAddresses(deps, host)
  if (addresses.length === 0) {
    const error = `no address for the smarthost ${host}`
    return { ...closedDestination('dns', error, expiresAt), site: 'relay' }
  }
  const targets = addresses.map((address) => ({ host, address, preference: 0 }))
  const own = { mode: 'relay', site: 'relay', key: 'relay' } as const
  return { kind: 'open', ...own, port, targets, lookup, expiresAt }
}

/** Finds the addresses of the smarthost: a literal, a DNS name, or a name of this system only. */
async function findSmarthostAddresses(
  { resolver, now }: { resolver: Pick<Resolver, 'a' | 'aaaa'>; now: Now },
  host: string,
): Promise<SmarthostAddresses> {
  if (isIP(host) !== 0) return { addresses: [host], expiresAt: Infinity }
  const options = { isUnjudged: true }
  const answers = await Promise.all([resolver.a(host, options), resolver.aaaa(host, options)])
  const found = answers.filter((answer) => answer.kind === 'found')
  if (found.length === 0) return querySystem(host, now)
  const addresses = found.flatMap(({ records }) => records)
  return { addresses, expiresAt: Math.min(...found.map((one) => one.expiresAt)) }
}

/** Queries the system, which also resolves the hosts file, container networks and `localhost`. */
async function querySystem(host: string, now: Now): Promise<SmarthostAddresses> {
  try {
    const found = await lookUpInSystem(host, { all: true })
    const addresses = found.map(({ address }) => address)
    return { addresses, expiresAt: now() + SYSTEM_ANSWER_MS }
  } catch {
    return { addresses: [], expiresAt: now() + FAILURE_MS }
  }
}

/**
 * Names the site of a domain: the receiving system to which limits of connections and rate apply.
 * The name consists of the domain's MX hosts, each replaced by its provider or else by its
 * registrable domain. All domains of one provider count as one site, and a backup MX elsewhere
 * makes another site. `hosts`: at least one, lower case, A-labels, in any order.
 */
export function siteOfHosts(hosts: readonly string[]): string {
  const names = [...new Set(hosts.map(foldHost))].sort()
  if (names.length <= MAX_NAMES) return names.join(',')
  const digest = createHash('sha256').update(names.join(',')).digest('hex')
  return `${names.slice(0, MAX_NAMES).join(',')},${digest.slice(0, DIGEST_CHARACTERS)}`
}

/** Names a set of hosts with preferences: destinations with the same key may share connections. */
export function destinationKeyOf(hosts: readonly { preference: number; host: string }[]): string {
  const names = hosts.map(({ preference, host }) => `${preference} ${host}`).sort()
  const text = names.join(',')
  if (text.length <= 200) return text
  return createHash('sha256').update(text).digest('hex')
}

function foldHost(host: string): string {
  return findProviderOfHost(host)?.site ?? getDomain(host, { allowPrivateDomains: true }) ?? host
}
