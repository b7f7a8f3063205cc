/**
 * Every key of `pillarbox.toml` with its kind, default and description. `init` writes the
 * descriptions into a new file, and `src/docs/configuration.md` repeats them. The environment takes
 * the same keys (`load.ts`).
 */
import { securityLimits } from './security-limits.ts'
import { optional, type Setting, setting } from './setting.ts'
import * as kind from './values/kinds.ts'

const MIB = 1024 * 1024
const MAX_DAYS = 36_500

const settings = {
  base_url: setting(
    kind.webAddress,
    'http://localhost:8080',
    'Public address of this server. Links in mail lead to it.',
  ),
  secret: optional(
    kind.longSecret,
    'The secret that all keys are derived from: for links, return paths and stored DKIM keys.',
    { otherwise: 'generated and stored in data_dir' },
  ),
  secret_previous: optional(
    kind.longSecret,
    'The previous secret. Links and return paths made with it stay valid.',
  ),
  data_dir: setting(kind.path, 'data', 'Folder of the database and the generated secret.'),

  'http.listen': setting(kind.listenAddress, '127.0.0.1:8080', 'Address and port of the HTTP API.'),
  'http.trusted_proxies': setting(
    kind.arrayOf(kind.network),
    [],
    'Addresses and networks of proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted.',
  ),
  'http.metrics_allow': setting(
    kind.arrayOf(kind.network),
    ['loopback'],
    'Addresses and networks that may read /metrics and the details of /health.',
  ),
  'http.allowed_hosts': setting(
    kind.arrayOf(kind.hostName),
    [],
    'Names under which people and monitors reach the server, beside the hosts of base_url and delivery.hostname, localhost and IP addresses. Requests for others get 421 from /metrics and wherever cookies count.',
  ),
  'http.max_connections': setting(
    kind.integer(1, 100_000),
    1_000,
    'Maximum number of HTTP connections at a time.',
  ),
  'http.max_connections_per_address': setting(
    kind.integer(1, 100_000),
    100,
    'Maximum number of HTTP connections from one address; http.trusted_proxies are exempt.',
  ),
  'http.tls_cert': optional(
    kind.path,
    'Certificate chain (PEM) for serving HTTPS without a proxy.',
    { example: 'cert.pem' },
  ),
  'http.tls_key': optional(kind.path, 'Private key (PEM) of http.tls_cert.', {
    example: 'key.pem',
  }),

  'acme.email': optional(
    kind.contactAddress,
    'Address for the account at the certificate authority. With it, a certificate is ordered by ACME, under the terms of the authority, for every listener without files of its own.',
    { example: 'you@example.com' },
  ),
  'acme.directory_url': setting(
    kind.directoryUrl,
    'https://acme-v02.api.letsencrypt.org/directory',
    'Directory of the certificate authority.',
  ),
  'acme.ca_file': optional(
    kind.path,
    'Certificates (PEM) that are trusted for the TLS of the directory itself, in place of the well-known authorities.',
    { example: 'ca.pem' },
  ),
  'acme.eab_kid': optional(
    kind.text,
    'Key identifier of the external account binding, if the authority requires one.',
    { example: 'kid-1' },
  ),
  'acme.eab_hmac_key': optional(
    kind.base64Secret,
    'Key of the external account binding, in base64 or base64url.',
  ),
  'acme.domains': optional(
    kind.arrayOf(kind.hostName),
    'Host names of the certificate. The authority connects to port 80 of each.',
    {
      example: ['mail.example.com'],
      otherwise: 'the hosts of base_url and delivery.hostname that have a dot',
    },
  ),
  'acme.listen': setting(
    kind.arrayOf(kind.listenAddress),
    ['0.0.0.0:80'],
    'Addresses and ports where the challenges of the authority are answered; everything else there is redirected to base_url. Empty: a proxy passes /.well-known/acme-challenge/ on to http.listen.',
  ),

  'database.url': setting(
    kind.sqliteUrl,
    'sqlite:pillarbox.db',
    'The database; a relative path starts at data_dir.',
  ),

  'delivery.mode': setting(
    kind.oneOf('sandbox', 'direct', 'relay'),
    'sandbox',
    'sandbox keeps all mail on this server, direct delivers to the MX of each recipient, relay sends all mail through a smarthost.',
  ),
  'delivery.hostname': optional(
    kind.hostName,
    'Name of this server in SMTP sessions. Direct mode requires a name with a dot, and the reverse DNS of the address should be this name.',
    { example: 'mail.example.com', otherwise: "the system's host name" },
  ),
  'delivery.port': setting(kind.port, 25, 'Port of every MX host.'),
  'delivery.source_addresses': setting(
    kind.arrayOf(kind.ipAddress),
    [],
    'Local addresses to send from; empty: the system chooses.',
  ),
  'delivery.public_addresses': setting(
    kind.arrayOf(kind.ipAddress),
    [],
    'Addresses that other servers see this server come from, for its checks; empty: the public ones of delivery.source_addresses, otherwise those of delivery.hostname.',
  ),
  'delivery.allow_private_networks': setting(
    kind.boolean,
    false,
    'Whether mail may be delivered to loopback and private addresses.',
  ),
  'delivery.max_connections': setting(
    kind.integer(1, 10_000),
    200,
    'Maximum number of connections to other servers at a time.',
  ),
  'delivery.max_connections_per_site': setting(
    kind.integer(1, 1_000),
    10,
    'Maximum number of connections to one site, to one address and to one network (/24 or /48).',
  ),
  'delivery.messages_per_connection': setting(
    kind.integer(1, 100_000),
    100,
    'Maximum number of messages sent over one connection.',
  ),
  'delivery.retry_schedule': setting(
    kind.arrayOf(kind.duration, { min: 1 }),
    ['1m', '5m', '10m', '15m', '30m', '1h', '2h', '4h', '6h'],
    'Delays between attempts. The last one repeats; each varies by 15%.',
  ),
  'delivery.fuse_per_minute': setting(
    kind.integer(0, 1_000_000),
    50,
    'Maximum number of suppressions in a minute. Beyond it, and if they are over 20% of the attempts, further suppressions are held until an operator confirms or undoes them; 0: no limit.',
  ),
  'delivery.give_up_after.transactional': setting(
    kind.duration,
    '24h',
    'Time after which the delivery of a transactional email is given up.',
  ),
  'delivery.give_up_after.workflow': setting(
    kind.duration,
    '24h',
    'The same time for workflow mail.',
  ),
  'delivery.give_up_after.campaign': setting(
    kind.duration,
    '72h',
    'The same time for campaign mail.',
  ),
  'delivery.return_path_domain': optional(
    kind.hostName,
    'Domain of return paths for sender domains without a return-path record of their own.',
    { example: 'bounce.example.com', otherwise: 'bounce.<delivery.hostname>' },
  ),
  'delivery.relay.host': optional(
    kind.hostNameOrAddress,
    'Host name or address of the smarthost (relay mode).',
    {
      example: 'smtp.example.com',
    },
  ),
  'delivery.relay.port': optional(kind.port, 'Port of the smarthost.', {
    example: 587,
    otherwise: '587; 465 with tls = "implicit"; 25 with tls = "none"',
  }),
  'delivery.relay.username': optional(kind.text, 'User name at the smarthost.', {
    example: 'name',
  }),
  'delivery.relay.password': optional(kind.secret, 'Password at the smarthost.'),
  'delivery.relay.tls': setting(
    kind.oneOf('starttls', 'implicit', 'none'),
    'starttls',
    'TLS to the smarthost. With starttls or implicit, no mail is sent without TLS; none sends in clear text.',
  ),

  'dns.servers': setting(
    kind.arrayOf(kind.dnsServer),
    [],
    "DNS servers to query; empty: the system's.",
  ),
  'dns.canary': setting(
    kind.arrayOf(kind.hostName),
    ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'],
    'Mail domains that certainly exist. "No such domain" is believed only while one of them resolves; empty: always.',
  ),

  'inbound.listen': setting(
    kind.arrayOf(kind.listenAddress),
    [],
    'Addresses and ports for bounces, complaints and replies, such as "0.0.0.0:25".',
  ),
  'inbound.tls_cert': optional(
    kind.path,
    'Certificate chain (PEM) for STARTTLS at inbound.listen.',
    {
      example: 'cert.pem',
    },
  ),
  'inbound.tls_key': optional(kind.path, 'Private key (PEM) of inbound.tls_cert.', {
    example: 'key.pem',
  }),
  'inbound.max_message_bytes': setting(
    kind.integer(65_536, 512 * MIB),
    40 * MIB,
    'Maximum size of a received message in bytes.',
  ),
  'inbound.max_bytes_per_project': setting(
    kind.integer(0, 2 ** 50),
    5 * 1024 * MIB,
    "Maximum size in bytes of the received mail kept for a project's mailboxes; beyond it senders get a temporary refusal. 0: no limit.",
  ),

  'submission.listen': setting(
    kind.arrayOf(kind.listenAddressOrTls),
    [],
    'Addresses and ports where programs submit mail over SMTP, such as "0.0.0.0:587" (STARTTLS) or "tls://0.0.0.0:465". The user name is pillarbox, the password a secret key.',
  ),
  'submission.tls_cert': optional(kind.path, 'Certificate chain (PEM) for submission.listen.', {
    example: 'cert.pem',
    otherwise: 'inbound.tls_cert',
  }),
  'submission.tls_key': optional(kind.path, 'Private key (PEM) of submission.tls_cert.', {
    example: 'key.pem',
    otherwise: 'inbound.tls_key',
  }),

  'sns.topic_arns': setting(
    kind.arrayOf(kind.topicArn),
    [],
    'ARNs of the SNS topics whose messages are accepted; empty: none.',
  ),

  'accounts.disable_signups': optional(
    kind.boolean,
    'Whether new sign-ups are refused. Invitations to projects work all the same.',
    { otherwise: 'true in direct and relay mode, false in sandbox mode', example: true },
  ),
  'accounts.verify_email_on_signup': setting(
    kind.boolean,
    false,
    'Whether sign-ups with disposable or plus-addressed addresses, and with domains that receive no mail, are refused.',
  ),
  'accounts.max_projects_per_user': setting(
    kind.integer(0, 1_000_000),
    10,
    'Projects that a user may own; operators are exempt, and who owns more keeps them. 0: no limit.',
  ),
  'accounts.mail_project': optional(
    kind.text,
    'Id of the project that sends the mail of this server to its users. Without one, the addresses of new users stay unproven, and passwords are reset with "pillarbox user password".',
    {
      example: '0199a7c0-0000-7000-8000-000000000001',
      otherwise: 'the sandbox project in sandbox mode, else none',
    },
  ),
  'accounts.mail_from': optional(
    kind.text,
    'Sender of that mail, at a verified domain of the project.',
    {
      example: 'Pillarbox <accounts@example.com>',
      otherwise: 'accounts@ the first verified domain of the project',
    },
  ),
  'accounts.github.client_id': optional(kind.text, 'Client id of the OAuth app at GitHub.', {
    example: 'Iv1.0123456789abcdef',
  }),
  'accounts.github.client_secret': optional(kind.secret, 'Client secret of the OAuth app.'),
  'accounts.google.client_id': optional(kind.text, 'Client id of the OAuth client at Google.', {
    example: '0123456789.apps.googleusercontent.com',
  }),
  'accounts.google.client_secret': optional(kind.secret, 'Client secret of the OAuth client.'),
  'accounts.oidc.name': optional(kind.text, 'Name of the OpenID provider, as users know it.', {
    example: 'Example',
    otherwise: 'the host of the issuer',
  }),
  'accounts.oidc.issuer': optional(
    kind.issuer,
    'Issuer of the OpenID provider; its endpoints are discovered.',
    { example: 'https://login.example.com' },
  ),
  'accounts.oidc.client_id': optional(kind.text, 'Client id at the OpenID provider.', {
    example: 'pillarbox',
  }),
  'accounts.oidc.client_secret': optional(kind.secret, 'Client secret at the OpenID provider.'),
  'accounts.oidc.trust_email': setting(
    kind.boolean,
    false,
    'Whether addresses are believed that the OpenID provider does not call verified.',
  ),
  'accounts.oidc.allow_signup': setting(
    kind.boolean,
    false,
    'Whether users of the OpenID provider get an account at their first login even if accounts.disable_signups is true.',
  ),
  'accounts.tests_to_members_only': setting(
    kind.boolean,
    false,
    'Whether tests of campaigns, templates and texts may go to members of the project only.',
  ),

  'limits.api_requests_per_minute': setting(
    kind.count,
    1_000,
    'Maximum number of API requests per project in a sliding minute, counted separately for each of its two keys; 0: no limit.',
  ),
  'limits.session_requests_per_minute': setting(
    kind.count,
    1_000,
    'Maximum number of requests per logged-in user in a sliding minute; 0: no limit.',
  ),
  'limits.new_project_daily': setting(
    kind.count,
    0,
    'Maximum number of emails that a project younger than 30 days may send in 24 hours; 0: no limit.',
  ),
  'limits.recipients_per_request': setting(
    kind.integer(1, 100_000),
    1_000,
    'Maximum number of recipients of one send request.',
  ),
  'limits.emails_per_second': setting(
    kind.integer(0, 1_000_000),
    0,
    'Maximum number of emails per project and second; 0: no limit.',
  ),
  'limits.attachments_max_count': setting(
    kind.integer(0, 1_000),
    10,
    'Maximum number of attachments of a message.',
  ),
  'limits.attachments_max_bytes': setting(
    kind.integer(0, 256 * MIB),
    10 * MIB,
    'Maximum size in bytes of all attachments of a message.',
  ),
  'limits.message_max_bytes': setting(
    kind.integer(65_536, 256 * MIB),
    40 * MIB,
    'Maximum size in bytes of a message.',
  ),
  'limits.submission_recipients': setting(
    kind.integer(1, 1_000),
    100,
    'Maximum number of recipients of a message submitted over SMTP.',
  ),
  'limits.min_free_bytes': setting(
    kind.integer(0, 1_000_000 * MIB),
    200 * MIB,
    'Free disk space in bytes below which the server accepts nothing more; sending goes on. 0: no limit.',
  ),
  'limits.idempotency_hours': setting(
    kind.integer(1, 8_760),
    24,
    'Hours that an Idempotency-Key is remembered.',
  ),

  'billing.free_emails': setting(
    kind.integer(0, 1_000_000_000),
    1_000,
    'Emails that all projects of an owner without a subscription may send and receive together in a month (UTC). Used only with the keys for Stripe.',
  ),
  'billing.stripe_secret_key': optional(
    kind.secret,
    'Secret key of Stripe. Projects can subscribe when all four values for Stripe are set.',
  ),
  'billing.stripe_webhook_secret': optional(
    kind.secret,
    'Signing secret of the Stripe webhook that posts to /webhooks/incoming/stripe.',
  ),
  'billing.stripe_price': optional(
    kind.text,
    'Id of the metered price at Stripe that projects subscribe to.',
    { example: 'price_123' },
  ),
  'billing.stripe_meter_event': optional(
    kind.text,
    'Event name of the meter at Stripe that counts the credits of the price.',
    { example: 'emails' },
  ),
  'billing.stripe_api_base': optional(
    kind.webAddress,
    'Address of the Stripe API: https, without a path.',
    { example: 'https://api.stripe.com', otherwise: "Stripe's own" },
  ),

  'campaigns.rows_ahead': setting(
    kind.integer(0, 100_000_000),
    50_000,
    "Emails of a project's campaigns that wait for delivery before more are made. Emails whose site takes no mail at the moment do not count, up to ten times this number. The number is counted once a second, so a small one also limits the speed; 0: no limit.",
  ),
  'campaigns.brake_minimum': setting(
    kind.integer(1, 1_000_000),
    200,
    'Outcomes of a campaign before its rates can pause it.',
  ),
  'campaigns.brake_hard_bounces': setting(
    kind.percentage,
    8,
    'Percentage of hard bounces that pauses a campaign; 0: never.',
  ),
  'campaigns.brake_refusals': setting(
    kind.percentage,
    2,
    'Percentage of emails refused for reputation or content that pauses a campaign; 0: never.',
  ),
  'campaigns.brake_complaints': setting(
    kind.percentage,
    0.3,
    'Percentage of complaints, of at least 5, that pauses a campaign; 0: never.',
  ),

  'webhooks.allow_private_networks': setting(
    kind.boolean,
    false,
    'Whether webhooks may reach loopback and private addresses. In sandbox mode they reach loopback all the same, if http.listen and base_url are loopback and http.trusted_proxies is empty.',
  ),

  'security.auto_disable': setting(
    kind.boolean,
    true,
    'Whether projects are disabled automatically when their hard bounces or complaints reach a critical value.',
  ),
  'security.min_emails': setting(
    kind.integer(1, kind.MAX_COUNT),
    100,
    'Number of emails below which no percentage counts.',
  ),
  ...securityLimits,

  'uploads.max_bytes_per_project': setting(
    kind.integer(0, 2 ** 50),
    1024 * MIB,
    'Maximum size in bytes of the images that a project has uploaded; 0: no limit.',
  ),
  'uploads.max_bytes_per_owner': setting(
    kind.integer(0, 2 ** 50),
    5 * 1024 * MIB,
    'Maximum size in bytes of the images of all projects of an owner together; 0: no limit.',
  ),

  'backup.every': optional(
    kind.duration,
    'Time between backups that the server makes by itself into backup.dir.',
    { example: '1d', otherwise: 'none are made' },
  ),
  'backup.keep': setting(
    kind.integer(1, 10_000),
    7,
    'Number of these backups that are kept; older ones are deleted.',
  ),
  'backup.dir': optional(kind.path, 'Folder for these backups, on another disk if possible.', {
    example: '/var/backups/pillarbox',
  }),
  'backup.min_free_bytes': setting(
    kind.integer(0, 1_000_000 * MIB),
    2 * 1024 * MIB,
    'A backup gives up when the disk of the database, or the one it writes to, has less free space in bytes than this; 0: no limit.',
  ),

  'retention.body_days': setting(
    kind.integer(1, MAX_DAYS),
    90,
    'Days that bodies of sent mail are kept.',
  ),
  'retention.request_log_days': setting(
    kind.integer(1, MAX_DAYS),
    30,
    'Days that the log of API requests is kept.',
  ),
  'retention.sandbox_messages': setting(
    kind.integer(1, 1_000_000),
    1_000,
    'Number of messages that the sandbox keeps.',
  ),

  'doctor.smtp_target': optional(
    kind.hostAndPort,
    'A mail server that the hourly check of outgoing SMTP connects to, reads the greeting of and leaves: a host name, optionally with a port. Without it only the deliveries of the last hour are evidence.',
    { example: 'mx.example.net' },
  ),
  'doctor.blocklists': setting(
    kind.arrayOf(kind.hostName),
    [],
    'DNS zones of blocklists in which the public addresses of this server are looked up.',
  ),
  'doctor.time_url': optional(
    kind.secureWebAddress,
    'An https address whose Date header the clock of this machine is compared with.',
    { example: 'https://www.example.com' },
  ),

  'log.level': setting(
    kind.oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'Lowest severity that is logged, as JSON lines on stderr.',
  ),
}

export type SettingKey = keyof typeof settings

/** The value of every key; paths are as the file or the environment gave them. */
export type SettingValues = {
  [Key in SettingKey]: (typeof settings)[Key] extends Setting<infer T> ? T : never
}

export const settingKeys = Object.keys(settings) as SettingKey[]

/** The setting of a key, without the type of its value. */
export function settingOf(key: SettingKey): Setting<unknown> {
  return settings[key] as Setting<unknown>
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key)
}

/** The secret that `<key>_file` reads from a file; undefined for any other key. */
export function secretKeyOfFile(key: string): SettingKey | undefined {
  const base = key.endsWith('_file') ? key.slice(0, -'_file'.length) : ''
  return isSettingKey(base) && settingOf(base).kind.isSecret ? base : undefined
}

/** Every key that a file or the environment may set, with the `<key>_file` of secrets. */
export const writableKeys: readonly string[] = settingKeys.flatMap((key) =>
  settingOf(key).kind.isSecret ? [key, `${key}_file`] : [key],
)
