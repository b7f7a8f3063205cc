/** Turns settings by key into the `Config` of the program, deeply frozen. */
import path from 'node:path'
import { isOrderedFor, orderedFile } from './certificates/ordered.ts'
import type { TlsListener } from './certificates/tls-listener.ts'
import type {
  AcmeConfig,
  BillingConfig,
  Config,
  OAuthClient,
  RelayConfig,
  TlsFiles,
} from './config.ts'
import type { SettingValues } from './settings.ts'

/** Takes the values that `deriveValues` returns. */
export function buildConfig(values: SettingValues, file: string | null): Config {
  return freeze<Config>({
    file,
    baseUrl: values.base_url,
    secret: values.secret,
    secretPrevious: values.secret_previous,
    dataDir: values.data_dir,
    http: {
      listen: values['http.listen'],
      trustedProxies: values['http.trusted_proxies'],
      metricsAllow: values['http.metrics_allow'],
      allowedHosts: values['http.allowed_hosts'],
      maxConnections: values['http.max_connections'],
      maxConnectionsPerAddress: values['http.max_connections_per_address'],
      tls: tlsFiles(values, 'http'),
    },
    acme: buildAcme(values),
    database: buildDatabase(values),
    delivery: buildDelivery(values),
    dns: { servers: values['dns.servers'], canary: values['dns.canary'] },
    inbound: {
      listen: values['inbound.listen'],
      tls: tlsFiles(values, 'inbound'),
      maxMessageBytes: values['inbound.max_message_bytes'],
      maxBytesPerProject: values['inbound.max_bytes_per_project'],
    },
    submission: {
      listen: values['submission.listen'],
      tls: tlsFiles(values, 'submission'),
    },
    sns: { topicArns: values['sns.topic_arns'] },
    accounts: buildAccounts(values),
    campaigns: {
      rowsAhead: values['campaigns.rows_ahead'],
      brakeMinimum: values['campaigns.brake_minimum'],
      brakeHardBounces: values['campaigns.brake_hard_bounces'],
      brakeRefusals: values['campaigns.brake_refusals'],
      brakeComplaints: values['campaigns.brake_complaints'],
    },
    webhooks: { allowPrivateNetworks: values['webhooks.allow_private_networks'] },
    limits: buildLimits(values),
    security: buildSecurity(values),
    uploads: {
      maxBytesPerProject: values['uploads.max_bytes_per_project'],
      maxBytesPerOwner: values['uploads.max_bytes_per_owner'],
    },
    billing: buildBilling(values),
    backup: {
      everyMs: values['backup.every'],
      keep: values['backup.keep'],
      dir: values['backup.dir'],
      minFreeBytes: values['backup.min_free_bytes'],
    },
    retention: {
      bodyDays: values['retention.body_days'],
      requestLogDays: values['retention.request_log_days'],
      sandboxMessages: values['retention.sandbox_messages'],
    },
    doctor: {
      smtpTarget: values['doctor.smtp_target'],
      blocklists: values['doctor.blocklists'],
      timeUrl: values['doctor.time_url'],
    },
    log: { level: values['log.level'] },
  })
}

function buildAcme(values: SettingValues): AcmeConfig | null {
  const [email, kid] = [values['acme.email'], values['acme.eab_kid']]
  const hmacKey = values['acme.eab_hmac_key']
  if (email === null) return null
  return {
    email,
    directoryUrl: values['acme.directory_url'],
    caFile: values['acme.ca_file'],
    eab: kid === null || hmacKey === null ? null : { kid, hmacKey },
    domains: values['acme.domains'] ?? [],
    listen: values['acme.listen'],
    folder: path.dirname(orderedFile(values)),
  }
}

function buildDatabase(values: SettingValues): Config['database'] {
  const url = values['database.url']
  return { url, file: path.resolve(values.data_dir, url.slice('sqlite:'.length)) }
}

function buildDelivery(values: SettingValues): Config['delivery'] {
  return {
    mode: values['delivery.mode'],
    hostname: values['delivery.hostname'] ?? '',
    port: values['delivery.port'],
    sourceAddresses: values['delivery.source_addresses'],
    publicAddresses: values['delivery.public_addresses'],
    allowPrivateNetworks: values['delivery.allow_private_networks'],
    maxConnections: values['delivery.max_connections'],
    maxConnectionsPerSite: values['delivery.max_connections_per_site'],
    messagesPerConnection: values['delivery.messages_per_connection'],
    retrySchedule: values['delivery.retry_schedule'],
    fusePerMinute: values['delivery.fuse_per_minute'],
    giveUpAfter: {
      transactional: values['delivery.give_up_after.transactional'],
      workflow: values['delivery.give_up_after.workflow'],
      campaign: values['delivery.give_up_after.campaign'],
    },
    returnPathDomain: values['delivery.return_path_domain'] ?? '',
    relay: buildRelay(values),
  }
}

function buildRelay(values: SettingValues): RelayConfig | null {
  const [host, port] = [values['delivery.relay.host'], values['delivery.relay.port']]
  if (host === null || port === null) return null
  return {
    host,
    port,
    username: values['delivery.relay.username'],
    password: values['delivery.relay.password'],
    tls: values['delivery.relay.tls'],
  }
}

function buildLimits(values: SettingValues): Config['limits'] {
  return {
    apiRequestsPerMinute: values['limits.api_requests_per_minute'],
    sessionRequestsPerMinute: values['limits.session_requests_per_minute'],
    newProjectDaily: values['limits.new_project_daily'],
    recipientsPerRequest: values['limits.recipients_per_request'],
    emailsPerSecond: values['limits.emails_per_second'],
    attachmentsMaxCount: values['limits.attachments_max_count'],
    attachmentsMaxBytes: values['limits.attachments_max_bytes'],
    messageMaxBytes: values['limits.message_max_bytes'],
    submissionRecipients: values['limits.submission_recipients'],
    minFreeBytes: values['limits.min_free_bytes'],
    idempotencyHours: values['limits.idempotency_hours'],
  }
}

function buildAccounts(values: SettingValues): Config['accounts'] {
  const issuer = values['accounts.oidc.issuer']
  const client = oauthClient(
    values['accounts.oidc.client_id'],
    values['accounts.oidc.client_secret'],
  )
  return {
    disableSignups: values['accounts.disable_signups'] ?? values['delivery.mode'] !== 'sandbox',
    verifyEmailOnSignup: values['accounts.verify_email_on_signup'],
    testsToMembersOnly: values['accounts.tests_to_members_only'],
    maxProjectsPerUser: values['accounts.max_projects_per_user'],
    // Ids of projects are in lower case.
    mailProject: values['accounts.mail_project']?.trim().toLowerCase() ?? null,
    mailFrom: values['accounts.mail_from'],
    github: oauthClient(
      values['accounts.github.client_id'],
      values['accounts.github.client_secret'],
    ),
    google: oauthClient(
      values['accounts.google.client_id'],
      values['accounts.google.client_secret'],
    ),
    oidc:
      issuer === null || client === null
        ? null
        : {
            ...client,
            issuer,
            name: values['accounts.oidc.name'] ?? new URL(issuer).hostname,
            trustEmail: values['accounts.oidc.trust_email'],
            allowSignup: values['accounts.oidc.allow_signup'],
          },
  }
}

function oauthClient(clientId: string | null, clientSecret: string | null): OAuthClient | null {
  return clientId === null || clientSecret === null ? null : { clientId, clientSecret }
}

function buildSecurity(values: SettingValues): Config['security'] {
  const percent = (name: `${'bounce' | 'complaint'}_${'7d' | 'all'}`) => ({
    warning: values[`security.${name}_warning_percent` as const],
    critical: values[`security.${name}_critical_percent` as const],
  })
  const count = (name: `${'' | 'young_'}${'bounce' | 'complaint'}_${'24h' | '7d'}`) => ({
    warning: values[`security.${name}_warning` as const],
    critical: values[`security.${name}_critical` as const],
  })
  return {
    autoDisable: values['security.auto_disable'],
    minEmails: values['security.min_emails'],
    percent: {
      bounce: { week: percent('bounce_7d'), all: percent('bounce_all') },
      complaint: { week: percent('complaint_7d'), all: percent('complaint_all') },
    },
    counts: {
      bounce: { day: count('bounce_24h'), week: count('bounce_7d') },
      complaint: { day: count('complaint_24h'), week: count('complaint_7d') },
    },
    youngCounts: {
      bounce: { day: count('young_bounce_24h'), week: count('young_bounce_7d') },
      complaint: { day: count('young_complaint_24h'), week: count('young_complaint_7d') },
    },
  }
}

function buildBilling(values: SettingValues): BillingConfig | null {
  const secretKey = values['billing.stripe_secret_key']
  const webhookSecret = values['billing.stripe_webhook_secret']
  const price = values['billing.stripe_price']
  const meterEvent = values['billing.stripe_meter_event']
  if (secretKey === null || webhookSecret === null) return null
  if (price === null || meterEvent === null) return null
  return {
    freeEmails: values['billing.free_emails'],
    stripeSecretKey: secretKey,
    stripeWebhookSecret: webhookSecret,
    stripePrice: price,
    stripeMeterEvent: meterEvent,
    stripeApiBase: values['billing.stripe_api_base'],
  }
}

function tlsFiles(values: SettingValues, listener: TlsListener): TlsFiles | null {
  const certFile = values[`${listener}.tls_cert`]
  const keyFile = values[`${listener}.tls_key`]
  if (certFile !== null && keyFile !== null) return { certFile, keyFile }
  if (!isOrderedFor(values, listener)) return null
  const file = orderedFile(values)
  return { certFile: file, keyFile: file, isOrdered: true }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}
