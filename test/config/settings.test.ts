import assert from 'node:assert/strict'
import path from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'smol-toml'
import { variableOf } from '../../src/config/load.ts'
import {
  type SettingKey,
  secretKeyOfFile,
  settingKeys,
  settingOf,
} from '../../src/config/settings.ts'
import { makeConfigFolder } from './config-folder.ts'

type Case = {
  /** TOML values. */
  right: unknown[]
  wrong: unknown[]
}

const [secret, text, file]: Case[] = [
  { right: ['x'.repeat(32)], wrong: ['', 'x'.repeat(31), `${'x'.repeat(40)}\n`, 32] },
  { right: ['a text'], wrong: ['', 'two\nlines', 7, true] },
  { right: ['some/file', '/some/file'], wrong: ['', 'a\0b', 1, []] },
]
const address: Case = {
  right: ['127.0.0.1:0', '[::1]:8080', 'localhost:80'],
  wrong: ['8080', '127.0.0.1', '127.0.0.1:99999', 'tls://127.0.0.1:443', 8080],
}
const [flag, days, duration]: Case[] = [
  { right: [true, false], wrong: ['yes', 1, ''] },
  { right: [1, 36_500], wrong: [0, -1, 1.5, 36_501, '1d'] },
  { right: ['500ms', '1d'], wrong: ['', '0s', '1 day', 60, '1w'] },
]
const listen: Case = { right: [[], ['127.0.0.1:0']], wrong: ['', ['tls://0.0.0.0:25'], [25]] }
const networks: Case = {
  right: [[], ['loopback', '10.0.0.0/8', 'fd00::/8', '192.0.2.1', '::1']],
  wrong: [
    'loopback',
    ['10.0.0.0/33'],
    ['fd00::/129'],
    ['proxy.example.com'],
    ['fe80::1%eth0'],
    [1],
  ],
}
const web: Case = {
  right: ['https://mail.example.com', 'http://localhost:8080/', 'https://example.com/mail'],
  wrong: [
    'mail.example.com',
    'ftp://example.com',
    'https://u:p@example.com',
    'https://e.com/?q',
    '',
  ],
}
const hostName: Case = {
  right: ['mail.example.com', 'MAIL.example.com.', 'bücher.example'],
  wrong: ['', 'a b', 'mail_1', '192.0.2.1', 'a..b', 'xn--google-.com', 'mx.xn--a.com', 25],
}

const count: Case = { right: [0, 5, 1_000_000], wrong: [-1, 1.5, '5', true] }
const percent: Case = { right: [0, 0.075, 100], wrong: [-1, 100.1, '5%', true] }

const cases: Record<SettingKey, Case> = {
  base_url: web!,
  secret: secret!,
  secret_previous: secret!,
  data_dir: file!,
  'http.listen': address,
  'http.trusted_proxies': networks,
  'http.metrics_allow': networks,
  'http.allowed_hosts': {
    right: [[], ['pillarbox'], ['mail.example.com', 'xn--bcher-kva.example']],
    wrong: [
      'pillarbox',
      ['http://pillarbox'],
      ['pillarbox:8080'],
      ['*.example.com'],
      [''],
      ['a b'],
    ],
  },
  'http.max_connections': { right: [1, 100_000], wrong: [0, 100_001, '200'] },
  'http.max_connections_per_address': { right: [1, 100_000], wrong: [0, 100_001] },
  'http.tls_cert': file!,
  'http.tls_key': file!,
  'acme.email': {
    right: ['you@example.com', 'first.last+acme@mail.example.com'],
    wrong: ['', 'you', '@example.com', 'you@', 'a,b@example.com', 'you@example.com?x=y', 'a b@c.d'],
  },
  'acme.directory_url': {
    right: ['https://acme.example.com/directory', 'https://localhost:14000/dir'],
    wrong: ['', 'http://acme.example.com/directory', 'acme.example.com', 'https://u:p@e.com/dir'],
  },
  'acme.ca_file': file!,
  'acme.eab_kid': { right: ['kid-1'], wrong: ['', 'a\nb', 1] },
  'acme.eab_hmac_key': {
    right: [
      'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
      'AAAAAAAAAAAAAAAAAAAA+/==',
    ],
    wrong: ['', 'short', 'with spaces in the middle of it', 1],
  },
  'acme.domains': {
    right: [['mail.example.com'], ['mail.example.com', 'bücher.example']],
    wrong: ['mail.example.com', ['*.example.com'], ['192.0.2.1'], ['a b']],
  },
  'acme.listen': {
    right: [[], ['0.0.0.0:80', '[::]:80']],
    wrong: ['0.0.0.0:80', ['tls://0.0.0.0:80']],
  },
  'database.url': {
    right: ['sqlite:pillarbox.db', 'sqlite:/var/lib/p.db', 'sqlite:a b.db'],
    wrong: [
      'postgres://localhost/x',
      'sqlite:',
      'sqlite::memory:',
      'sqlite:///x',
      'x.db',
      'sqlite:a?b',
    ],
  },
  'delivery.mode': { right: ['sandbox', 'direct', 'relay'], wrong: ['', 'Relay', 'smtp', true] },
  'delivery.hostname': hostName,
  'delivery.port': { right: [1, 25, 65_535], wrong: [0, 65_536, '25', 2.5] },
  'delivery.source_addresses': {
    right: [[], ['192.0.2.1', '2001:db8::1']],
    wrong: [['mail.example.com'], ['192.0.2.0/24'], '192.0.2.1'],
  },
  'delivery.public_addresses': {
    right: [[], ['192.0.2.1', '2001:db8::1']],
    wrong: [['mail.example.com'], '192.0.2.1'],
  },
  'delivery.allow_private_networks': flag!,
  'delivery.max_connections': { right: [1, 10_000], wrong: [0, 10_001, '200'] },
  'delivery.max_connections_per_site': { right: [1, 1_000], wrong: [0, 1_001] },
  'delivery.messages_per_connection': { right: [1, 100_000], wrong: [0, 100_001] },
  'delivery.retry_schedule': {
    right: [['1s'], ['1m', '5m']],
    wrong: [[], '1m', ['1m', 5], ['soon'], ['0s']],
  },
  'delivery.fuse_per_minute': { right: [0, 50, 1_000_000], wrong: [-1, 1.5, '50', 1_000_001] },
  'delivery.give_up_after.transactional': duration!,
  'delivery.give_up_after.workflow': duration!,
  'delivery.give_up_after.campaign': duration!,
  'delivery.return_path_domain': hostName,
  'delivery.relay.host': {
    right: ['smtp.example.com', '192.0.2.1', '::1'],
    wrong: ['smtp.example.com:587', '', '-', 1],
  },
  'delivery.relay.port': { right: [587], wrong: [0, '587'] },
  'delivery.relay.username': text!,
  'delivery.relay.password': text!,
  'delivery.relay.tls': { right: ['starttls', 'implicit', 'none'], wrong: ['', 'ssl', true] },
  'dns.servers': {
    right: [[], ['127.0.0.1:5353', '192.0.2.53', '::1', '[::1]:53']],
    wrong: [['ns.example.com'], ['127.0.0.1:0'], ['tls://127.0.0.1:853'], '127.0.0.1'],
  },
  'dns.canary': {
    right: [[], ['gmail.com', 'bücher.example']],
    wrong: ['gmail.com', ['192.0.2.1'], ['a b'], ['']],
  },
  'inbound.listen': listen,
  'inbound.tls_cert': file!,
  'inbound.tls_key': file!,
  'inbound.max_message_bytes': { right: [65_536, 41_943_040], wrong: [0, 65_535, '40MB'] },
  'inbound.max_bytes_per_project': { right: [0, 5_368_709_120], wrong: [-1, 1.5, '5GB'] },
  'submission.listen': {
    right: [[], ['127.0.0.1:0', 'tls://0.0.0.0:465']],
    wrong: ['0.0.0.0:587', ['587'], ['ssl://0.0.0.0:465']],
  },
  'submission.tls_cert': file!,
  'submission.tls_key': file!,
  'sns.topic_arns': {
    right: [[], ['arn:aws:sns:eu-west-1:123456789012:mail']],
    wrong: [['mail'], ['arn:aws:sqs:eu-west-1:123456789012:mail'], 'x'],
  },
  'accounts.verify_email_on_signup': flag!,
  'accounts.mail_project': text!,
  'accounts.mail_from': text!,
  'accounts.github.client_id': text!,
  'accounts.github.client_secret': text!,
  'accounts.google.client_id': text!,
  'accounts.google.client_secret': text!,
  'accounts.oidc.name': text!,
  'accounts.oidc.issuer': {
    ...web,
    right: ['https://login.example.com', 'http://localhost:9000/', 'https://e.com/realms/a/'],
  },
  'accounts.oidc.client_id': text!,
  'accounts.oidc.client_secret': text!,
  'accounts.oidc.trust_email': flag!,
  'accounts.oidc.allow_signup': flag!,
  'security.auto_disable': flag!,
  'security.min_emails': { right: [1, 100], wrong: [0, 1.5] },
  'security.bounce_7d_warning_percent': percent,
  'security.bounce_7d_critical_percent': percent,
  'security.bounce_all_warning_percent': percent,
  'security.bounce_all_critical_percent': percent,
  'security.complaint_7d_warning_percent': percent,
  'security.complaint_7d_critical_percent': percent,
  'security.complaint_all_warning_percent': percent,
  'security.complaint_all_critical_percent': percent,
  'security.bounce_24h_warning': count,
  'security.bounce_24h_critical': count,
  'security.bounce_7d_warning': count,
  'security.bounce_7d_critical': count,
  'security.complaint_24h_warning': count,
  'security.complaint_24h_critical': count,
  'security.complaint_7d_warning': count,
  'security.complaint_7d_critical': count,
  'security.young_bounce_24h_warning': count,
  'security.young_bounce_24h_critical': count,
  'security.young_bounce_7d_warning': count,
  'security.young_bounce_7d_critical': count,
  'security.young_complaint_24h_warning': count,
  'security.young_complaint_24h_critical': count,
  'security.young_complaint_7d_warning': count,
  'security.young_complaint_7d_critical': count,
  'uploads.max_bytes_per_project': count,
  'uploads.max_bytes_per_owner': count,
  'accounts.max_projects_per_user': {
    right: [0, 10, 1_000_000],
    wrong: [-1, 1.5, '10', 1_000_001],
  },
  'limits.session_requests_per_minute': count,
  'limits.new_project_daily': count,
  'accounts.disable_signups': flag!,
  'accounts.tests_to_members_only': flag!,
  'limits.api_requests_per_minute': { right: [0, 1_000], wrong: [-1, 0.5, '1000'] },
  'limits.recipients_per_request': { right: [1, 100_000], wrong: [0, 100_001] },
  'limits.emails_per_second': { right: [0, 100], wrong: [-1, '5'] },
  'limits.attachments_max_count': { right: [0, 1_000], wrong: [-1, 1_001] },
  'limits.attachments_max_bytes': { right: [0, 10_485_760], wrong: [-1, '10MB'] },
  'limits.message_max_bytes': { right: [65_536], wrong: [0, 1e12] },
  'limits.submission_recipients': { right: [1, 1_000], wrong: [0, 1_001] },
  'limits.min_free_bytes': { right: [0, 200_000_000], wrong: [-1, 1.5, '200MB'] },
  'limits.idempotency_hours': { right: [1, 8_760], wrong: [0, 8_761, '24h'] },
  'billing.free_emails': {
    right: [0, 1_000, 1_000_000_000],
    wrong: [-1, 1.5, '1000', 1_000_000_001],
  },
  'billing.stripe_secret_key': text!,
  'billing.stripe_webhook_secret': text!,
  'billing.stripe_price': text!,
  'billing.stripe_meter_event': text!,
  'billing.stripe_api_base': web!,
  'backup.every': duration!,
  'backup.keep': { right: [1, 7, 10_000], wrong: [0, 1.5, '7', 10_001] },
  'backup.dir': file!,
  'backup.min_free_bytes': { right: [0, 2_147_483_648], wrong: [-1, 1.5, '2G'] },
  'campaigns.rows_ahead': { right: [0, 50_000, 100_000_000], wrong: [-1, 1.5, '5', 100_000_001] },
  'campaigns.brake_minimum': { right: [1, 1_000_000], wrong: [0, 1_000_001, 2.5] },
  'campaigns.brake_hard_bounces': { right: [0, 8, 12.5, 100], wrong: [-1, 100.5, '8'] },
  'campaigns.brake_refusals': { right: [0, 2, 100], wrong: [-0.1, 101] },
  'campaigns.brake_complaints': { right: [0, 0.3, 100], wrong: [-1, 101, 'few'] },
  'webhooks.allow_private_networks': flag!,
  'retention.body_days': days!,
  'retention.request_log_days': days!,
  'retention.sandbox_messages': { right: [1, 1_000_000], wrong: [0, 1_000_001] },
  'doctor.smtp_target': {
    right: [
      'mx.example.net',
      'mx.example.net:2525',
      '192.0.2.1',
      '[2001:db8::1]:25',
      '2001:db8::1',
    ],
    wrong: ['', 'mx.example.net:0', 'mx.example.net:65536', 'smtp://mx.example.net', 'a b', ':25'],
  },
  'doctor.blocklists': {
    right: [[], ['zen.example.org', 'bl.example.net']],
    wrong: ['zen.example.org', ['not a zone']],
  },
  'doctor.time_url': {
    right: ['https://www.example.com', 'https://www.example.com/now', 'HTTPS://Www.Example.com'],
    wrong: ['http://www.example.com', 'www.example.com', 'https://user@example.com', 3],
  },
  'log.level': { right: ['fatal', 'info', 'silent'], wrong: ['', 'INFO', 'verbose', 3] },
}

/** The TOML of a file that sets this key only. */
function toml(key: string, value: unknown): string {
  const [name = '', ...tables] = key.split('.').reverse()
  return stringify(
    tables.reduce((inner, table) => ({ [table]: inner }), { [name]: value } as object),
  )
}

describe('every setting', () => {
  it('has a default that its own kind reads, or an example, and a description', () => {
    for (const key of settingKeys) {
      const { kind, default: byDefault, example, description } = settingOf(key)
      if (byDefault !== null) assert.notEqual(kind.read(byDefault), undefined, key)
      if (example !== undefined) assert.notEqual(kind.read(example), undefined, key)
      const canBegin = byDefault !== null || example !== undefined || kind.isSecret
      assert.ok(canBegin, `${key} has neither`)
      assert.match(description, /[.]$/, key)
    }
  })

  it('reads valid values and writes them so that they read back the same', () => {
    for (const key of settingKeys) {
      const { kind } = settingOf(key)
      for (const value of cases[key].right) {
        const read = kind.read(value)
        assert.notEqual(read, undefined, `${key} = ${JSON.stringify(value)}`)
        assert.deepEqual(kind.read(kind.show(read)), read, key)
      }
    }
  })

  it('names the key, the found and the expected value when it is invalid', () => {
    const dir = makeConfigFolder()
    for (const key of settingKeys) {
      for (const value of cases[key].wrong) {
        const [problem, ...others] = dir.problems(toml(key, value))
        assert.ok(problem, `${key} = ${JSON.stringify(value)} was taken`)
        assert.deepEqual(others, [], key)
        const { kind } = settingOf(key)
        assert.equal(problem.key, key)
        assert.equal(problem.expected, kind.expected)
        assert.equal(problem.where, dir.file)
        if (kind.isSecret && typeof value === 'string' && value !== '') {
          assert.ok(!problem.found.includes(value), 'a secret is shown')
        } else if (typeof value === 'string' && !kind.isSecret) {
          assert.equal(problem.found, JSON.stringify(value))
        }
      }
    }
  })

  it('can come from the environment, as text', () => {
    for (const key of settingKeys) {
      const { kind } = settingOf(key)
      for (const value of cases[key].right) {
        const asJson = Array.isArray(value) ? JSON.stringify(value) : String(value)
        assert.deepEqual(kind.read(kind.fromText(asJson)), kind.read(value), key)
        if (!Array.isArray(value)) continue
        assert.deepEqual(kind.read(kind.fromText(value.join(', '))), kind.read(value), key)
      }
    }
  })

  it('names the variable when the environment has an invalid value', () => {
    const dir = makeConfigFolder()
    for (const key of settingKeys) {
      const { kind } = settingOf(key)
      const wrong = cases[key].wrong.find(
        (value) => typeof value === 'string' && kind.read(kind.fromText(value)) === undefined,
      )
      if (wrong === undefined) continue
      const [problem] = dir.problems(null, { [variableOf(key)]: String(wrong) })
      assert.equal(problem?.key, key)
      assert.equal(problem.where, variableOf(key))
    }
  })

  it('has a <key>_file exactly when it is a secret', () => {
    const secrets = settingKeys.filter((key) => secretKeyOfFile(`${key}_file`) === key)
    assert.deepEqual(secrets, [
      'secret',
      'secret_previous',
      'acme.eab_hmac_key',
      'delivery.relay.password',
      'accounts.github.client_secret',
      'accounts.google.client_secret',
      'accounts.oidc.client_secret',
      'billing.stripe_secret_key',
      'billing.stripe_webhook_secret',
    ])
  })

  it('accepts any value or names its key', () => {
    const dir = makeConfigFolder()
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true }), fc.boolean())
    const anyValue = fc.oneof(scalar, fc.array(fc.string(), { maxLength: 3 }))
    fc.assert(
      fc.property(fc.constantFrom(...settingKeys), anyValue, (key, value) => {
        for (const problem of dir.problems(toml(key, value))) {
          assert.ok(problem.key.startsWith(key.split('.')[0]!), problem.key)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('resolves paths from the folder of the file', () => {
    const dir = makeConfigFolder()
    const config = dir.load("data_dir = 'here'\n[database]\nurl = 'sqlite:x/y.db'")
    assert.equal(config.dataDir, path.join(dir.folder, 'here'))
    assert.equal(config.database.file, path.join(dir.folder, 'here', 'x', 'y.db'))
  })
})
