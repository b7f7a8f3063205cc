import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { makeCertificate } from '../fakes/certificate.ts'
import { makeConfigFolder } from './config-folder.ts'

const dir = makeConfigFolder()
const [own, other] = [makeCertificate(), makeCertificate()]
writeFileSync(path.join(dir.folder, 'cert.pem'), own.cert)
writeFileSync(path.join(dir.folder, 'key.pem'), own.key)
writeFileSync(path.join(dir.folder, 'other.pem'), other.key)

const relay = "[delivery]\nmode = 'relay'\n[delivery.relay]\n"

const oidc = "[accounts.oidc]\nclient_id = 'a'\nclient_secret = 'b'\n"

const stripe = `[billing]
stripe_secret_key = 'a'
stripe_webhook_secret = 'b'
stripe_price = 'c'
stripe_meter_event = 'd'
`

/** Refused configurations, and the keys that the problems name. */
const refused: [name: string, toml: string, keys: string[]][] = [
  [
    'direct delivery under a host name without a dot',
    "[delivery]\nmode = 'direct'\nhostname = 'mail'",
    ['delivery.hostname'],
  ],
  ['relay mode without a smarthost', relay, ['delivery.relay.host']],
  [
    'a user name without a password',
    `${relay}host = 'a.example'\nusername = 'u'`,
    ['delivery.relay.password'],
  ],
  [
    'a password without a user name',
    `${relay}host = 'a.example'\npassword = 'p'`,
    ['delivery.relay.username'],
  ],
  [
    'credentials in clear to another machine',
    `${relay}host = 'a.example'\nusername = 'u'\npassword = 'p'\ntls = 'none'`,
    ['delivery.relay.tls'],
  ],
  [
    'credentials without a smarthost',
    "[delivery.relay]\nusername = 'u'\npassword = 'p'",
    ['delivery.relay.host'],
  ],
  ['a certificate without a key', "[http]\ntls_cert = 'cert.pem'", ['http.tls_key']],
  ['a key without a certificate', "[inbound]\ntls_key = 'key.pem'", ['inbound.tls_cert']],
  ['half a pair of its own', "[submission]\ntls_cert = 'cert.pem'", ['submission.tls_key']],
  [
    'submission from outside without a certificate',
    "[submission]\nlisten = ['127.0.0.1:587', '0.0.0.0:587']",
    ['submission.listen'],
  ],
  [
    'implicit TLS without a certificate',
    "[submission]\nlisten = ['tls://127.0.0.1:465']",
    ['submission.listen'],
  ],
  [
    'two listeners at one address',
    "[http]\nlisten = '127.0.0.1:2525'\n[inbound]\nlisten = ['127.0.0.1:2525']",
    ['inbound.listen'],
  ],
  [
    'an OpenID provider in clear on another machine',
    `${oidc}issuer = 'http://login.example.com'`,
    ['accounts.oidc.issuer'],
  ],
  [
    'half of what billing needs',
    "[billing]\nstripe_secret_key = 'sk'\n",
    ['billing.stripe_webhook_secret', 'billing.stripe_price', 'billing.stripe_meter_event'],
  ],
  [
    'an address of Stripe in clear',
    `${stripe}stripe_api_base = 'http://stripe.example.com'`,
    ['billing.stripe_api_base'],
  ],
  [
    'an address of Stripe with a path',
    `${stripe}stripe_api_base = 'https://stripe.example.com/v1'`,
    ['billing.stripe_api_base'],
  ],
  [
    'a certificate that cannot be read',
    "[http]\ntls_cert = 'no.pem'\ntls_key = 'key.pem'",
    ['http.tls_cert'],
  ],
  [
    'a certificate that is none',
    "[http]\ntls_cert = 'pillarbox.toml'\ntls_key = 'key.pem'",
    ['http.tls_cert'],
  ],
  [
    'a key of another certificate',
    "[inbound]\ntls_cert = 'cert.pem'\ntls_key = 'other.pem'",
    ['inbound.tls_cert'],
  ],
]

const taken: [name: string, toml: string][] = [
  ['a host name without a dot in the sandbox', "[delivery]\nhostname = 'mail'"],
  ['a relay in clear without credentials', `${relay}host = 'a.example'\ntls = 'none'`],
  [
    'credentials in clear to this machine',
    `${relay}host = '127.0.0.1'\nusername = 'u'\npassword = 'p'\ntls = 'none'`,
  ],
  ['submission from this machine without a certificate', "[submission]\nlisten = ['127.0.0.1:0']"],
  [
    'submission with the certificate of inbound',
    "[inbound]\ntls_cert = 'cert.pem'\ntls_key = 'key.pem'\n[submission]\nlisten = ['tls://0.0.0.0:465']",
  ],
  [
    'several listeners at free ports',
    "[inbound]\nlisten = ['127.0.0.1:0']\n[submission]\nlisten = ['127.0.0.1:0']",
  ],
  ['an OpenID provider in clear on this machine', `${oidc}issuer = 'http://[::1]:9000/'`],
  ['all that billing needs', stripe],
  ['an address of Stripe on this machine', `${stripe}stripe_api_base = 'http://127.0.0.1:12111'`],
]

describe('contradictions', () => {
  for (const [name, toml, keys] of refused) {
    it(`refuse ${name}`, () => {
      const problems = dir.problems(toml)
      assert.deepEqual(
        problems.map(({ key }) => key),
        keys,
      )
      for (const { found, expected } of problems) assert.ok(found !== '' && expected !== '')
    })
  }

  for (const [name, toml] of taken) {
    it(`accept ${name}`, () => assert.deepEqual(dir.problems(toml), []))
  }

  it('are not reported for invalid keys', () => {
    const problems = dir.problems(`${relay}host = 'not a host'`)
    assert.deepEqual(
      problems.map(({ key }) => key),
      ['delivery.relay.host'],
    )
  })

  it('do not arise without submission.tls_cert: submission uses the certificate of inbound', () => {
    const { inbound, submission } = dir.load(
      "[inbound]\ntls_cert = 'cert.pem'\ntls_key = 'key.pem'",
    )
    assert.deepEqual(submission.tls, inbound.tls)
    assert.equal(inbound.tls?.certFile, path.join(dir.folder, 'cert.pem'))
  })
})
