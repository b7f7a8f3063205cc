/** Names the receiver of mail that waits, as analytics names it once it was tried. */
import { providerOf } from '../../../formats/address/mailbox-providers.ts'
import { findProvider } from '../../../outbound/routing/providers.ts'
import type { Base } from '../../ground/base.ts'

/**
 * Returns a function that names the receiver of a domain (A-labels): by the domain, else by the servers that
 * receive for it. These are known once the server has sent mail to the domain; a smarthost is none of them.
 */
export function createReceiverNaming({
  config,
  outbound,
}: Pick<Base, 'config' | 'outbound'>): (domain: string) => string {
  if (config.delivery.mode !== 'direct') return (domain) => providerOf(domain, null)
  return (domain) => {
    // A site is named after its provider, or after the domains of its hosts.
    const hosts = outbound
      .siteOf(domain)
      .split(',')
      .map((name) => findProvider(name)?.hosts[0] ?? name)
    const names = hosts.map((host) => providerOf(domain, host))
    return names.find((name) => name !== providerOf(domain, null)) ?? providerOf(domain, null)
  }
}
