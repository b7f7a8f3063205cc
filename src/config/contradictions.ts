/** Finds settings that are valid one by one but contradict each other. */
import { MINUTE_MS } from '../base/clock.ts'
import { isCertifiable, isOrderedFor } from './certificates/ordered.ts'
import type { ListenAddress } from './config.ts'
import { type ConfigProblem, describeFound } from './problems.ts'
import type { SettingKey, SettingValues } from './settings.ts'
import { formatDuration } from './values/durations.ts'
import { formatListenAddress, isLoopbackHost } from './values/listen-address.ts'

type Contradiction = { key: SettingKey; found: string; expected: string }

type Rule = {
  /** The rule is skipped while the value of one of these keys is invalid. */
  keys: SettingKey[]
  check(values: SettingValues): Contradiction[]
}

/** `isBroken` tells whether the value of a key is invalid. */
export function findContradictions(
  values: SettingValues,
  isBroken: (key: SettingKey) => boolean,
): ConfigProblem[] {
  const usable = rules.filter(({ keys }) => !keys.some(isBroken))
  return usable.flatMap((rule) => rule.check(values)).map((one) => ({ ...one, where: null }))
}

const TLS_PAIRS: [cert: SettingKey, key: SettingKey][] = [
  ['http.tls_cert', 'http.tls_key'],
  ['inbound.tls_cert', 'inbound.tls_key'],
  ['submission.tls_cert', 'submission.tls_key'],
]

const ACME_KEYS = ['acme.email', 'acme.domains', 'acme.listen'] as const satisfies SettingKey[]

const STRIPE_KEYS = [
  'billing.stripe_secret_key',
  'billing.stripe_webhook_secret',
  'billing.stripe_price',
  'billing.stripe_meter_event',
] as const satisfies SettingKey[]

const rules: Rule[] = [
  {
    keys: ['delivery.mode', 'delivery.hostname'],
    check: (values) => {
      const hostname = values['delivery.hostname'] ?? ''
      if (values['delivery.mode'] !== 'direct' || hostname.includes('.')) return []
      const expected = 'a name with a dot, since direct delivery presents it to other servers'
      return [{ key: 'delivery.hostname', found: describeFound(hostname), expected }]
    },
  },
  {
    keys: ['delivery.mode', 'delivery.relay.host'],
    check: (values) => {
      if (values['delivery.mode'] !== 'relay') return []
      return missing(values, 'delivery.relay.host', 'the smarthost of relay mode')
    },
  },
  {
    keys: ['delivery.relay.username', 'delivery.relay.password'],
    check: (values) => bothOrNone(values, ['delivery.relay.username', 'delivery.relay.password']),
  },
  {
    keys: ['delivery.relay.host', 'delivery.relay.tls', 'delivery.relay.username'],
    check: checkClearAuth,
  },
  {
    keys: ['delivery.mode', 'delivery.relay.host', 'delivery.relay.username'],
    check: (values) => {
      const isUsed = values['delivery.relay.username'] !== null
      if (!isUsed || values['delivery.mode'] === 'relay') return []
      return missing(
        values,
        'delivery.relay.host',
        'the smarthost that delivery.relay.username belongs to',
      )
    },
  },
  ...TLS_PAIRS.map((pair) => ({
    keys: pair,
    check: (values: SettingValues) => bothOrNone(values, pair),
  })),
  {
    keys: ['submission.listen', 'acme.email', ...TLS_PAIRS.slice(1).flat()],
    check: checkSubmissionTls,
  },
  {
    keys: ['http.listen', 'inbound.listen', 'submission.listen', 'acme.listen'],
    check: checkListeners,
  },
  {
    keys: ['acme.eab_kid', 'acme.eab_hmac_key'],
    check: (values) => bothOrNone(values, ['acme.eab_kid', 'acme.eab_hmac_key']),
  },
  { keys: [...ACME_KEYS, 'base_url', 'delivery.hostname'], check: checkAcmeDomains },
  {
    keys: [...ACME_KEYS, 'base_url', 'http.listen', 'http.trusted_proxies', 'http.tls_cert'],
    check: checkAcmeListen,
  },
  ...(['github', 'google', 'oidc'] as const).map((provider) => ({
    keys: [
      `accounts.${provider}.client_id`,
      `accounts.${provider}.client_secret`,
    ] satisfies SettingKey[],
    check: (values: SettingValues) =>
      bothOrNone(values, [`accounts.${provider}.client_id`, `accounts.${provider}.client_secret`]),
  })),
  {
    keys: ['accounts.oidc.issuer', 'accounts.oidc.client_id'],
    check: (values) => bothOrNone(values, ['accounts.oidc.issuer', 'accounts.oidc.client_id']),
  },
  { keys: ['accounts.oidc.issuer'], check: checkClearIssuer },
  { keys: [...STRIPE_KEYS, 'billing.stripe_api_base'], check: checkBilling },
  { keys: ['billing.stripe_api_base'], check: checkStripeAddress },
  { keys: ['backup.every', 'backup.dir'], check: checkBackup },
]

function missing(values: SettingValues, key: SettingKey, expected: string): Contradiction[] {
  return values[key] === null ? [{ key, found: 'nothing', expected }] : []
}

function bothOrNone(
  values: SettingValues,
  [first, second]: [SettingKey, SettingKey],
): Contradiction[] {
  if ((values[first] === null) === (values[second] === null)) return []
  const [given, absent] = values[first] === null ? [second, first] : [first, second]
  return [{ key: absent, found: 'nothing', expected: `a value, since ${given} has one` }]
}

function checkClearAuth(values: SettingValues): Contradiction[] {
  const host = values['delivery.relay.host']
  const isClear = values['delivery.relay.tls'] === 'none'
  if (host === null || !isClear || values['delivery.relay.username'] === null) return []
  if (isLoopbackHost(host)) return []
  const expected = `starttls or implicit, since the password would reach ${host} in clear text`
  return [{ key: 'delivery.relay.tls', found: '"none"', expected }]
}

function checkClearIssuer(values: SettingValues): Contradiction[] {
  const key = 'accounts.oidc.issuer'
  const issuer = values[key]
  if (issuer === null) return []
  if (new URL(issuer).protocol === 'https:' || isLoopbackUrl(issuer)) return []
  const expected = 'an https address, since logins would cross the network in clear text'
  return [{ key, found: describeFound(issuer), expected }]
}

function checkSubmissionTls(values: SettingValues): Contradiction[] {
  if (values['submission.tls_cert'] !== null || values['acme.email'] !== null) return []
  return values['submission.listen']
    .filter(({ host, isTls }) => isTls || !isLoopbackHost(host))
    .map((address) => ({
      key: 'submission.listen',
      found: `"${formatListenAddress(address)}" and no certificate`,
      expected:
        'acme.email, submission.tls_cert and .tls_key, or a loopback address without tls://',
    }))
}

function checkAcmeDomains(values: SettingValues): Contradiction[] {
  if (values['acme.email'] === null) return []
  const key = 'acme.domains'
  const domains = values[key] ?? []
  if (domains.length === 0) {
    const expected =
      'a public host name, since neither base_url nor delivery.hostname has one, or no acme.email'
    return [{ key, found: 'nothing', expected }]
  }
  return domains
    .filter((name) => !isCertifiable(name))
    .map((name) => ({ key, found: describeFound(name), expected: 'a public host name with a dot' }))
}

/** HTTPS opens once there is a certificate, so it cannot answer the challenges for the first one. */
function checkAcmeListen(values: SettingValues): Contradiction[] {
  const key = 'acme.listen'
  if (values[key].length > 0 || !isOrderedFor(values, 'http')) return []
  const expected =
    'an address for the challenges, since http.listen waits for the certificate; or http.trusted_proxies, if a proxy passes them on'
  return [{ key, found: '[]', expected }]
}

function checkListeners(values: SettingValues): Contradiction[] {
  const listeners: [SettingKey, ListenAddress][] = [
    ['http.listen', values['http.listen']],
    ...values['inbound.listen'].map((one): [SettingKey, ListenAddress] => ['inbound.listen', one]),
    ...values['submission.listen'].map((one): [SettingKey, ListenAddress] => [
      'submission.listen',
      one,
    ]),
    ...(values['acme.email'] === null ? [] : values['acme.listen']).map(
      (one): [SettingKey, ListenAddress] => ['acme.listen', one],
    ),
  ]
  const taken = new Map<string, SettingKey>()
  return listeners.flatMap(([key, address]) => {
    const text = formatListenAddress({ ...address, isTls: false })
    const holder = taken.get(text)
    taken.set(text, key)
    if (holder === undefined || address.port === 0) return []
    return [
      { key, found: `"${text}", which ${holder} uses too`, expected: 'an address of its own' },
    ]
  })
}

function checkBilling(values: SettingValues): Contradiction[] {
  const isUsed = STRIPE_KEYS.some((key) => values[key] !== null)
  const hasApiBase = values['billing.stripe_api_base'] !== null
  if (!isUsed && !hasApiBase) return []
  const expected = 'a value, since another key for Stripe has one'
  return STRIPE_KEYS.flatMap((key) => missing(values, key, expected))
}

function checkStripeAddress(values: SettingValues): Contradiction[] {
  const key = 'billing.stripe_api_base'
  const address = values[key]
  if (address === null) return []
  const { protocol, pathname } = new URL(address)
  const found = describeFound(address)
  if (pathname !== '/') return [{ key, found, expected: 'an address without a path' }]
  if (protocol === 'https:' || isLoopbackUrl(address)) return []
  const expected = 'an https address, since the secret key would cross the network in clear text'
  return [{ key, found, expected }]
}

function checkBackup(values: SettingValues): Contradiction[] {
  const everyMs = values['backup.every']
  if (everyMs === null) return []
  const expected = 'a folder, since backup.every has a value'
  const noFolder = missing(values, 'backup.dir', expected)
  if (everyMs >= MINUTE_MS) return noFolder
  const found = describeFound(formatDuration(everyMs))
  return [...noFolder, { key: 'backup.every', found, expected: 'at least "1m"' }]
}

function isLoopbackUrl(address: string): boolean {
  return isLoopbackHost(new URL(address).hostname.replace(/^\[|\]$/g, ''))
}
