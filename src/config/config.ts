/** The effective configuration, validated and frozen. Durations are milliseconds, sizes bytes. */
import type { LogLevel } from '../base/log.ts'

export type ListenAddress = {
  host: string
  /** The number of the port; 0: any free port. */
  port: number
  /** Implicit TLS (`tls://`). */
  isTls: boolean
}

/** `port`: null when the default applies. */
export type HostAndPort = { host: string; port: number | null }

/** `isOrdered`: both are in one file, which the server orders by ACME and which may not exist yet. */
export type TlsFiles = { certFile: string; keyFile: string; isOrdered?: boolean }

/** How certificates are ordered (RFC 8555). */
export type AcmeConfig = {
  email: string
  directoryUrl: string
  caFile: string | null
  /** External account binding (RFC 8555 section 7.3.4). */
  eab: { kid: string; hmacKey: string } | null
  /** The names that certificates are ordered for: A-labels; at least one. */
  domains: readonly string[]
  /** The addresses where challenges are answered; empty: at `http.listen` only. */
  listen: readonly ListenAddress[]
  /**
   * The absolute path of a folder with the account's key, the certificate with its key, and the state of
   * orders.
   */
  folder: string
}

export type RelayConfig = {
  host: string
  port: number
  username: string | null
  password: string | null
  tls: 'starttls' | 'implicit' | 'none'
}

export type BillingConfig = {
  /** How many emails all projects of an owner without a subscription may send together in a month. */
  freeEmails: number
  stripeSecretKey: string
  stripeWebhookSecret: string
  stripePrice: string
  /** The event name of the meter. */
  stripeMeterEvent: string
  stripeApiBase: string | null
}

export type OAuthClient = { clientId: string; clientSecret: string }

export type AccountsConfig = {
  disableSignups: boolean
  verifyEmailOnSignup: boolean
  testsToMembersOnly: boolean
  /** 0: no limit. */
  maxProjectsPerUser: number
  /** The id of the project that sends mail to users; null: the sandbox project, if any. */
  mailProject: string | null
  /** A mailbox, `Name <address>` or an address. */
  mailFrom: string | null
  github: OAuthClient | null
  google: OAuthClient | null
  oidc:
    | (OAuthClient & { name: string; issuer: string; trustEmail: boolean; allowSignup: boolean })
    | null
}

type Levels = { warning: number; critical: number }
type CountLevels = {
  bounce: { day: Levels; week: Levels }
  complaint: { day: Levels; week: Levels }
}

/** The values from which a project's reputation is a warning or critical; 0: never. */
export type SecurityConfig = {
  autoDisable: boolean
  minEmails: number
  percent: { bounce: { week: Levels; all: Levels }; complaint: { week: Levels; all: Levels } }
  counts: CountLevels
  /** The limits for projects younger than 30 days. */
  youngCounts: CountLevels
}

export type Config = {
  /** Absolute path of the configuration file; null without one. */
  file: string | null
  /** The URL of the server as clients see it, without a trailing slash. */
  baseUrl: string
  /** The secret that keys are derived from; null: it is generated and stored in `dataDir`. */
  secret: string | null
  secretPrevious: string | null
  /** The absolute path of the data folder. */
  dataDir: string
  http: {
    listen: ListenAddress
    trustedProxies: readonly string[]
    metricsAllow: readonly string[]
    /** Host names. */
    allowedHosts: readonly string[]
    maxConnections: number
    maxConnectionsPerAddress: number
    tls: TlsFiles | null
  }
  /** Null: certificates are files of the operator. */
  acme: AcmeConfig | null
  database: { url: string; file: string }
  delivery: {
    mode: 'sandbox' | 'direct' | 'relay'
    hostname: string
    port: number
    sourceAddresses: readonly string[]
    /** Empty: see `features/mail/domains/server-records.ts`. */
    publicAddresses: readonly string[]
    allowPrivateNetworks: boolean
    maxConnections: number
    maxConnectionsPerSite: number
    messagesPerConnection: number
    retrySchedule: readonly number[]
    /** 0: no limit. */
    fusePerMinute: number
    giveUpAfter: { transactional: number; workflow: number; campaign: number }
    returnPathDomain: string
    relay: RelayConfig | null
  }
  /**
   * `servers`: `address` or `address:port`; empty: the servers of the system. `canary`: domains (A-labels)
   * that certainly exist: "no such domain" is believed only while one of them resolves; empty: "no such
   * domain" is always believed.
   */
  dns: { servers: readonly string[]; canary: readonly string[] }
  inbound: {
    listen: readonly ListenAddress[]
    tls: TlsFiles | null
    maxMessageBytes: number
    /** Limit of the stored received mail; 0: no limit. */
    maxBytesPerProject: number
  }
  submission: { listen: readonly ListenAddress[]; tls: TlsFiles | null }
  sns: { topicArns: readonly string[] }
  accounts: AccountsConfig
  campaigns: {
    /** The most rows that are made ahead of delivery; 0: no limit. */
    rowsAhead: number
    brakeMinimum: number
    /** The percentages above which the brake pauses a campaign; 0: it never does. */
    brakeHardBounces: number
    brakeRefusals: number
    brakeComplaints: number
  }
  webhooks: {
    allowPrivateNetworks: boolean
  }
  limits: {
    apiRequestsPerMinute: number
    sessionRequestsPerMinute: number
    /** Emails in 24 hours; 0: no limit. */
    newProjectDaily: number
    recipientsPerRequest: number
    emailsPerSecond: number
    attachmentsMaxCount: number
    attachmentsMaxBytes: number
    messageMaxBytes: number
    submissionRecipients: number
    /** 0: no limit. */
    minFreeBytes: number
    idempotencyHours: number
  }
  security: SecurityConfig
  /** 0: no limit. */
  uploads: { maxBytesPerProject: number; maxBytesPerOwner: number }
  billing: BillingConfig | null
  backup: {
    /** Null: the server makes no backups by itself. */
    everyMs: number | null
    keep: number
    /** The absolute path of the folder for backups; null only if `everyMs` is null. */
    dir: string | null
    /** 0: no limit. */
    minFreeBytes: number
  }
  retention: { bodyDays: number; requestLogDays: number; sandboxMessages: number }
  doctor: {
    smtpTarget: HostAndPort | null
    blocklists: readonly string[]
    timeUrl: string | null
  }
  log: { level: LogLevel }
}
