/**
 * What clients may know about this server before anyone has logged in: its addresses and features, and whether
 * it needs to be set up.
 */
import type { Config } from '../../config/config.ts'
import type { PublicConfig } from '../../records/server.ts'

type Shown = {
  /** Whether no user may log in (`accounts/setup/is-open.ts`). */
  isSetupOpen: boolean
  /** Whether a user asks who has logged in. */
  hasSession: boolean
}

export function describeInstance(config: Config, { isSetupOpen, hasSession }: Shown): PublicConfig {
  const { baseUrl, delivery, accounts, billing } = config
  return {
    // A stranger who finds a server that is not set up learns as little as possible about it.
    ...(isSetupOpen && !hasSession ? {} : { environment: delivery.mode }),
    urls: {
      api: baseUrl,
      dashboard: `${baseUrl}/app`,
      landing: baseUrl,
      wiki: `${baseUrl}/docs`,
    },
    features: {
      billing: { enabled: billing !== null },
      // Always true: if this were false, clients would hide uploads, wherever the files are.
      storage: { s3Enabled: true },
      authProviders: {
        github: accounts.github !== null,
        google: accounts.google !== null,
        oidc: accounts.oidc === null ? null : { name: accounts.oidc.name },
      },
      signup: { signupsDisabled: accounts.disableSignups },
      // Every project can switch tracking off.
      email: { trackingToggleEnabled: true },
      smtp: describeSubmission(config),
      sponsor: { enabled: false },
    },
    // Read by clients that also know servers which send through Amazon SES.
    aws: { sesRegion: null, mailFromSubdomain: 'bounce' },
    setup: { needed: isSetupOpen },
  }
}

function describeSubmission({ submission, delivery }: Config): PublicConfig['features']['smtp'] {
  const { listen } = submission
  if (listen.length === 0) return { enabled: false, domain: null, ports: null }
  const portOf = (isTls: boolean) => listen.find((one) => one.isTls === isTls)?.port ?? null
  const ports = { secure: portOf(true), submission: portOf(false) }
  return { enabled: true, domain: delivery.hostname, ports }
}
