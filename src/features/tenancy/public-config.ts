/**
 * What clients may know about this server before anyone has logged in: its addresses and features, and whether
 * it needs to be set up. Whoever has logged in also learns its version, its name and its limits.
 */
import type { Config } from '../../config/config.ts'
import {
  MAX_CSV_COLUMNS,
  MAX_IDS_PER_REQUEST,
  MAX_IMPORT_BYTES,
  MAX_TEST_ADDRESSES,
  MAX_UPLOAD_BYTES,
} from '../../records/limits.ts'
import type { PublicConfig } from '../../records/server.ts'

type Shown = {
  /** Whether no user may log in (`accounts/setup/is-open.ts`). */
  isSetupOpen: boolean
  /** The version of the program, for a user who has logged in; null for others. */
  version: string | null
}

export function describeInstance(config: Config, { isSetupOpen, version }: Shown): PublicConfig {
  const { baseUrl, delivery, accounts, billing } = config
  return {
    // A stranger who finds a server that is not set up learns as little as possible about it.
    ...(isSetupOpen && version === null ? {} : { environment: delivery.mode }),
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
    ...(version === null ? {} : { version, ...describeToUsers(config) }),
  }
}

function describeToUsers({ delivery }: Config) {
  return {
    hostname: delivery.hostname,
    limits: {
      importBytes: MAX_IMPORT_BYTES,
      bulkIds: MAX_IDS_PER_REQUEST,
      testAddresses: MAX_TEST_ADDRESSES,
      uploadBytes: MAX_UPLOAD_BYTES,
      csvColumns: MAX_CSV_COLUMNS,
    },
  }
}

function describeSubmission({ submission, delivery }: Config): PublicConfig['features']['smtp'] {
  const { listen } = submission
  if (listen.length === 0) return { enabled: false, domain: null, ports: null }
  const portOf = (isTls: boolean) => listen.find((one) => one.isTls === isTls)?.port ?? null
  const ports = { secure: portOf(true), submission: portOf(false) }
  return { enabled: true, domain: delivery.hostname, ports }
}
