/** The providers that the configuration names, in the order in which people see them. */
import type { Config } from '../../../../config/config.ts'
import type { HttpClientOptions } from '../../../../outbound/http/client.ts'
import type { Base } from '../../../ground/base.ts'
import { createGithubProvider, GITHUB, type GithubEndpoints } from './github-provider.ts'
import { createOpenidProvider } from './openid-provider.ts'
import { callbackUrl, type IdentityProvider } from './provider.ts'
import { createProviderFetch } from './provider-fetch.ts'

export type IdentityProviders = {
  list(): readonly IdentityProvider[]
  find(name: string): IdentityProvider | undefined
  /** Ends requests in flight, and closes the connections. */
  stop(): void
}

/** The addresses of Google and GitHub. */
export type ProviderSites = { googleIssuer: string; github: GithubEndpoints }

const SITES: ProviderSites = { googleIssuer: 'https://accounts.google.com', github: GITHUB }

type ProviderDeps = Pick<Base, 'config' | 'now' | 'resolver'>
type ProviderOptions = Pick<HttpClientOptions, 'timeoutMs' | 'ca'> & { sites?: ProviderSites }

export function createIdentityProviders(
  { config, now, resolver }: ProviderDeps,
  { sites = SITES, ...limits }: ProviderOptions = {},
): IdentityProviders {
  const { fetch, stop } = createProviderFetch({ resolver, ...limits })
  const providers = listConfigured(config, sites, { fetch, now })
  return {
    list: () => providers,
    find: (name) => providers.find((provider) => provider.name === name),
    stop,
  }
}

function listConfigured(
  { accounts, baseUrl }: Config,
  sites: ProviderSites,
  deps: Parameters<typeof createOpenidProvider>[1],
): IdentityProvider[] {
  const { github, google, oidc } = accounts
  const providers: IdentityProvider[] = []
  if (github !== null) {
    const callback = callbackUrl(baseUrl, 'github')
    providers.push(createGithubProvider(sites.github, { client: github, callback, ...deps }))
  }
  if (google !== null) {
    const known = {
      name: 'google',
      label: 'Google',
      method: 'GOOGLE',
      allowsSignup: false,
    } as const
    const callback = callbackUrl(baseUrl, 'google')
    const issuer = sites.googleIssuer
    const options = { ...known, issuer, client: google, trustsAddresses: false, callback }
    providers.push(createOpenidProvider(options, deps))
  }
  if (oidc !== null) {
    const { name: label, issuer, trustEmail: trustsAddresses, allowSignup: allowsSignup } = oidc
    const known = { name: 'oidc', label, method: 'OIDC', allowsSignup } as const
    const callback = callbackUrl(baseUrl, 'oidc')
    providers.push(
      createOpenidProvider({ ...known, issuer, client: oidc, trustsAddresses, callback }, deps),
    )
  }
  return providers
}
