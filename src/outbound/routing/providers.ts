/**
 * Large receivers, recognised by their MX hosts, and the shape of traffic that is safe to start
 * with there (DELIVERY, provider rules). One `site` may run many MX hosts and take mail for any
 * number of customers' domains, and all of that shares one budget.
 */
export type Provider = {
  site: string
  /** The MX host is one of these names or lies below one. */
  hosts: readonly string[]
  connections?: number
  messagesPerConnection?: number
  /** Never falls back to a connection in clear. */
  requiresTls?: boolean
}

/** The first that fits wins, so the special stand before the general. */
export const providers: readonly Provider[] = [
  {
    site: 'google.com',
    hosts: ['google.com', 'googlemail.com', 'smtp.goog'],
    connections: 5,
    messagesPerConnection: 50,
    requiresTls: true,
  },
  // Consumers, business customers and those with DANE are served apart from each other.
  {
    site: 'olc.protection.outlook.com',
    hosts: ['olc.protection.outlook.com'],
    connections: 5,
    messagesPerConnection: 50,
  },
  {
    site: 'mail.protection.outlook.com',
    hosts: ['protection.outlook.com'],
    connections: 5,
    messagesPerConnection: 50,
  },
  { site: 'mx.microsoft', hosts: ['mx.microsoft'], connections: 5, messagesPerConnection: 50 },
  { site: 'yahoodns.net', hosts: ['yahoodns.net'], messagesPerConnection: 20 },
  { site: 'icloud.com', hosts: ['mail.icloud.com'], connections: 10, messagesPerConnection: 5 },
  { site: 'orange.fr', hosts: ['orange.fr', 'wanadoo.fr'], connections: 2, requiresTls: true },
  { site: 'comcast.net', hosts: ['comcast.net'], requiresTls: true },
  { site: 'gmx.net', hosts: ['gmx.net', 'gmx.com', 'web.de'], requiresTls: true },
]

const bySite = new Map(providers.map((provider) => [provider.site, provider]))

/** Of a site as `siteOfHosts` names it; undefined for the rest of the world. */
export function findProvider(site: string): Provider | undefined {
  return bySite.get(site)
}

/** `host`: lower case, A-labels. */
export function findProviderOfHost(host: string): Provider | undefined {
  return providers.find(({ hosts }) =>
    hosts.some((name) => host === name || host.endsWith(`.${name}`)),
  )
}
