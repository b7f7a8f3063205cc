/**
 * Every key of `pillarbox.toml`: its kind, its default, what it means. `init` writes these texts
 * into a new file; the environment knows the same keys (`environment.ts`).
 */

import type { Kind, TomlValue } from './values/kinds.ts'
import * as kind from './values/kinds.ts'

export type Setting<T> = {
  kind: Kind<T>
  /** As it would stand in the file; null where nothing is set. */
  default: TomlValue | null
  description: string
  /** A value to begin with, where nothing is set. */
  example?: TomlValue
  /** What holds where nothing is set, for people. */
  otherwise?: string
}

const MIB = 1024 * 1024
const DAYS = 36_500
const MANY = 1_000_000_000

function setting<T>(of: Kind<T>, byDefault: TomlValue, description: string): Setting<T> {
  return { kind: of, default: byDefault, description }
}

/** A key that may stay unset. */
function optional<T>(
  of: Kind<T>,
  description: string,
  more: { example?: TomlValue; otherwise?: string } = {},
): Setting<T | null> {
  const kindOrNull: Kind<T | null> = {
    ...of,
    show: (value) => (value === null ? '' : of.show(value)),
  }
  return { kind: kindOrNull, default: null, description, ...more }
}

export const settings = {
  base_url: setting(
    kind.webAddress,
    'http://localhost:8080',
    'Public address of this server: links in mail and cookies point to it.',
  ),
  secret: optional(
    kind.longSecret,
    'What all keys are derived from: sessions, links, return paths, DKIM keys at rest.',
    { otherwise: 'made and kept in data_dir' },
  ),
  secret_previous: optional(
    kind.longSecret,
    'The secret before this one: what it made is still accepted.',
  ),
  data_dir: setting(kind.path, 'data', 'Folder of the database, uploads and the made secret.'),

  'http.listen': setting(kind.listenAddress, '127.0.0.1:8080', 'Where the API is served.'),
  'http.trusted_proxies': setting(
    kind.listOf(kind.network),
    [],
    'Addresses and networks of proxies whose X-Forwarded-For counts.',
  ),
  'http.metrics_allow': setting(
    kind.listOf(kind.network),
    ['loopback'],
    'Who may read /metrics and the detail of /health.',
  ),
  'http.max_connections': setting(
    kind.integer(1, 100_000),
    1_000,
    'Most connections of callers at a time.',
  ),
  'http.max_connections_per_address': setting(
    kind.integer(1, 100_000),
    100,
    'Most of them from one address; http.trusted_proxies are not counted so.',
  ),
  'http.tls_cert': optional(
    kind.path,
    'Certificate chain (PEM) to serve HTTPS with, without a proxy.',
    { example: 'cert.pem' },
  ),
  'http.tls_key': optional(kind.path, 'Private key (PEM) of http.tls_cert.', {
    example: 'key.pem',
  }),

  'database.url': setting(
    kind.sqliteUrl,
    'sqlite:pillarbox.db',
    'The database; a relative file counts from data_dir.',
  ),

  'delivery.mode': setting(
    kind.oneOf('sandbox', 'direct', 'relay'),
    'sandbox',
    'sandbox keeps all mail here, direct delivers to the MX of each recipient, relay hands all mail to a smarthost.',
  ),
  'delivery.hostname': optional(
    kind.hostName,
    'Name of this server in mail sessions; in direct mode it must hold a dot, and its address should point back to it.',
    { example: 'mail.example.com', otherwise: "the system's host name" },
  ),
  'delivery.port': setting(kind.port, 25, 'Port of every MX.'),
  'delivery.source_addresses': setting(
    kind.listOf(kind.ipAddress),
    [],
    'Local addresses to send from; empty leaves the choice to the system.',
  ),
  'delivery.allow_private_networks': setting(
    kind.boolean,
    false,
    'Deliver to loopback and private addresses.',
  ),
  'delivery.max_connections': setting(
    kind.integer(1, 10_000),
    200,
    'Most connections to other servers at a time.',
  ),
  'delivery.max_connections_per_site': setting(
    kind.integer(1, 1_000),
    10,
    'Most of them to one destination, to one address and to one network (/24, /48).',
  ),
  'delivery.messages_per_connection': setting(
    kind.integer(1, 100_000),
    100,
    'Messages sent over one connection before a new one is made.',
  ),
  'delivery.retry_schedule': setting(
    kind.listOf(kind.duration, { min: 1 }),
    ['1m', '5m', '10m', '15m', '30m', '1h', '2h', '4h', '6h'],
    'Waits between attempts; the last one repeats, each varies by 15%.',
  ),
  'delivery.fuse_per_minute': setting(
    kind.integer(0, 1_000_000),
    50,
    'Suppressions in a minute, if they are over 20% of what was tried, beyond which further ones wait for your word; 0 is no limit.',
  ),
  'delivery.give_up_after.transactional': setting(
    kind.duration,
    '24h',
    'How long delivery of transactional mail is tried.',
  ),
  'delivery.give_up_after.workflow': setting(kind.duration, '24h', 'The same of workflow mail.'),
  'delivery.give_up_after.campaign': setting(kind.duration, '72h', 'The same of campaigns.'),
  'delivery.return_path_domain': optional(
    kind.hostName,
    'Domain of return paths where a sender domain has no return-path record of its own.',
    { example: 'bounce.example.com', otherwise: 'bounce.<delivery.hostname>' },
  ),
  'delivery.relay.host': optional(kind.hostNameOrAddress, 'The smarthost of relay mode.', {
    example: 'smtp.example.com',
  }),
  'delivery.relay.port': optional(kind.port, 'Its port.', {
    example: 587,
    otherwise: '587, with tls "implicit" 465, with "none" 25',
  }),
  'delivery.relay.username': optional(kind.text, 'User name at the smarthost.', {
    example: 'name',
  }),
  'delivery.relay.password': optional(kind.secret, 'Password at the smarthost.'),
  'delivery.relay.tls': setting(
    kind.oneOf('starttls', 'implicit', 'none'),
    'starttls',
    'starttls and implicit are required of the smarthost, not just tried; none sends in clear.',
  ),

  'dns.servers': setting(
    kind.listOf(kind.dnsServer),
    [],
    "DNS servers to ask; empty means the system's.",
  ),
  'dns.canary': setting(
    kind.listOf(kind.hostName),
    ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'],
    'Mail domains that certainly exist: "no such domain" is believed only while one of them resolves; empty believes it always.',
  ),

  'inbound.listen': setting(
    kind.listOf(kind.listenAddress),
    [],
    'Where bounces, complaints and replies come in, as "0.0.0.0:25".',
  ),
  'inbound.tls_cert': optional(kind.path, 'Certificate chain (PEM) for STARTTLS.', {
    example: 'cert.pem',
  }),
  'inbound.tls_key': optional(kind.path, 'Private key (PEM) of inbound.tls_cert.', {
    example: 'key.pem',
  }),
  'inbound.max_message_bytes': setting(
    kind.integer(65_536, 512 * MIB),
    40 * MIB,
    'Largest message taken in.',
  ),
  'inbound.max_bytes_per_project': setting(
    kind.integer(0, 2 ** 50),
    5 * 1024 * MIB,
    "Most bytes of received mail kept for a project's mailboxes; 0 is no limit.",
  ),

  'submission.listen': setting(
    kind.listOf(kind.listenAddressOrTls),
    [],
    'Where programs hand in mail over SMTP, as "0.0.0.0:587" (STARTTLS) or "tls://0.0.0.0:465"; user pillarbox, password a secret key.',
  ),
  'submission.tls_cert': optional(kind.path, 'Certificate chain (PEM) of these listeners.', {
    example: 'cert.pem',
    otherwise: 'inbound.tls_cert',
  }),
  'submission.tls_key': optional(kind.path, 'Private key (PEM) of submission.tls_cert.', {
    example: 'key.pem',
    otherwise: 'inbound.tls_key',
  }),

  'sns.topic_arns': setting(
    kind.listOf(kind.topicArn),
    [],
    'SNS topics that are believed; empty refuses every SNS call.',
  ),

  'accounts.disable_signups': setting(kind.boolean, false, 'Let nobody sign up by themselves.'),

  'limits.api_requests_per_minute': setting(
    kind.integer(0, MANY),
    1_000,
    'Per project, in a sliding window, the public key apart; 0 is no limit.',
  ),
  'limits.recipients_per_request': setting(
    kind.integer(1, 100_000),
    1_000,
    'Most recipients of one send request.',
  ),
  'limits.emails_per_second': setting(kind.integer(0, 1_000_000), 0, 'Per project; 0 is no limit.'),
  'limits.attachments_max_count': setting(
    kind.integer(0, 1_000),
    10,
    'Most attachments of a message.',
  ),
  'limits.attachments_max_bytes': setting(
    kind.integer(0, 256 * MIB),
    10 * MIB,
    'Most bytes of all attachments of a message.',
  ),
  'limits.message_max_bytes': setting(
    kind.integer(65_536, 256 * MIB),
    40 * MIB,
    'Most bytes of a message.',
  ),
  'limits.submission_recipients': setting(
    kind.integer(1, 1_000),
    100,
    'Most recipients of a message handed in over SMTP.',
  ),
  'limits.min_free_bytes': setting(
    kind.integer(0, 1_000_000 * MIB),
    200 * MIB,
    'Free bytes of the disk below which nothing more is taken in; sending goes on. 0 is no limit.',
  ),
  'limits.idempotency_hours': setting(
    kind.integer(1, 8_760),
    24,
    'How long an Idempotency-Key is remembered.',
  ),

  'billing.stripe_secret_key': optional(kind.secret, 'Billing is off without these three.'),
  'billing.stripe_webhook_secret': optional(kind.secret, 'Signing secret of the webhook.'),
  'billing.stripe_price': optional(kind.text, 'The price to subscribe to.', {
    example: 'price_123',
  }),
  'billing.stripe_api_base': optional(kind.webAddress, 'Where the API of Stripe is.', {
    example: 'https://api.stripe.com',
    otherwise: "Stripe's own",
  }),

  'retention.body_days': setting(
    kind.integer(1, DAYS),
    90,
    'Days that bodies of sent mail are kept.',
  ),
  'retention.request_log_days': setting(
    kind.integer(1, DAYS),
    30,
    'Days that the log of API requests is kept.',
  ),
  'retention.sandbox_messages': setting(
    kind.integer(1, 1_000_000),
    1_000,
    'Messages that the sandbox keeps.',
  ),

  'log.level': setting(
    kind.oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'Least severity that is logged, as JSON lines on stderr.',
  ),
}

export type SettingKey = keyof typeof settings

/** What every key holds; paths as they were given. */
export type SettingValues = {
  [Key in SettingKey]: (typeof settings)[Key] extends Setting<infer T> ? T : never
}

export const settingKeys = Object.keys(settings) as SettingKey[]

/** The key's setting, without its own type. */
export function settingOf(key: SettingKey): Setting<unknown> {
  return settings[key] as Setting<unknown>
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key)
}

/** The key whose value `<key>_file` reads from a file; undefined when there is no such one. */
export function secretKeyOfFile(key: string): SettingKey | undefined {
  const base = key.endsWith('_file') ? key.slice(0, -'_file'.length) : ''
  return isSettingKey(base) && settingOf(base).kind.isSecret ? base : undefined
}

/** Every key that may be written, `<key>_file` too. */
export const writableKeys: readonly string[] = settingKeys.flatMap((key) =>
  settingOf(key).kind.isSecret ? [key, `${key}_file`] : [key],
)
