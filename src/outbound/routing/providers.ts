/**
 * Large receivers, recognised by their MX hosts, and the limits that are safe to start with. One
 * provider may run many MX hosts and receive mail for many customers' domains; all of them are one
 * site.
 */
export type Provider = {
  site: string
  /** An MX host is one of these names or a subdomain of one. */
  hosts: readonly string[]
  connections?: number
  messagesPerConnection?: number
  /** Never falls back to a session without TLS. */
  requiresTls?: boolean
}

/** The first match wins, so special entries come before general ones. */
const PROVIDERS: readonly Provider[] = [
  {
    site: 'google.com',
    hosts: ['google.com', 'googlemail.com', 'smtp.goog'],
    connections: 5,
    messagesPerConnection: 50,
    requiresTls: true,
  },
  // Microsoft serves consumers, business customers and domains with DANE by separate systems.
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

const PROVIDERS_BY_SITE = new Map(PROVIDERS.map((provider) => [provider.site, provider]))

/** Returns the provider of a site as named by `siteOfHosts`; undefined if it is none. */
export function findProvider(site: string): Provider | undefined {
  return PROVIDERS_BY_SITE.get(site)
}

/** Returns the provider that runs an MX host. `host`: lower case, A-labels. */
export function findProviderOfHost(host: string): Provider | undefined {
  return PROVIDERS.find(({ hosts }) =>
    hosts.some((name) => host === name || host.endsWith(`.${name}`)),
  )
}
