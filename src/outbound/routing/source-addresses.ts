/**
 * From which of our addresses a message leaves. The choice follows from the message and its site
 * alone, so every attempt comes from the same address, as greylisting wants it, without a memory;
 * it changes only when a site refuses that address, which is then left out there for six hours.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { HOUR_MS, type Now } from '../../clock.ts'

/** At most one of each family; both undefined = the system chooses. */
export type SourceAddresses = { ipv4?: string; ipv6?: string }

export type SourceChooser = {
  choose(emailId: string, site: string): SourceAddresses
  /** A site listed our address. False when there is no other one to send from. */
  refuse(site: string, address: string): boolean
}

const REFUSED_FOR_MS = 6 * HOUR_MS
const MAX_REFUSALS = 10_000

/** `addresses`: `delivery.source_addresses`. */
export function createSourceChooser(addresses: readonly string[], now: Now): SourceChooser {
  const refused = new LRUCache<string, number>({ max: MAX_REFUSALS })
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
