/** Names the receiver of mail that was not offered to a server yet, as it is named once it was. */
import {
  OTHER_PROVIDER,
  providerOfDomain,
  providerOfHost,
} from '../../../formats/address/mailbox-providers.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { findProvider } from '../../../outbound/routing/providers.ts'

export type NamingDeps = { outbound: Pick<Outbound, 'knownSiteOf' | 'knownSites'> }

/**
 * Names the receiver of a domain (A-labels): by the domain, else by the servers that receive for it. These are known once
 * the server has looked for them; a smarthost is none of them.
 */
export function receiverOfDomain({ outbound }: NamingDeps, domain: string): string {
  const site = outbound.knownSiteOf(domain)
  return providerOfDomain(domain) ?? (site === undefined ? OTHER_PROVIDER : receiverOfSite(site))
}

/** Returns the domains that `receiverOfDomain` names by their servers, each with the name; none is `Other`. */
export function namedDomains({ outbound }: NamingDeps): Map<string, string> {
  const named = new Map<string, string>()
  for (const [domain, site] of outbound.knownSites()) {
    const name = receiverOfSite(site)
    if (name === OTHER_PROVIDER || providerOfDomain(domain) !== undefined) continue
    named.set(domain, name)
  }
  return named
}

/** A site is named after its provider, or after the domains of its hosts. */
function receiverOfSite(site: string): string {
  const hosts = site.split(',').map((name) => findProvider(name)?.hosts[0] ?? name)
  return hosts.map(providerOfHost).find((name) => name !== OTHER_PROVIDER) ?? OTHER_PROVIDER
}
