import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { describeOrdered } from '../../src/config/certificates/ordered.ts'
import { loadConfig } from '../../src/config/load.ts'
import { ConfigError } from '../../src/config/problems.ts'

const base = {
  PILLARBOX_BASE_URL: 'https://app.example.test',
  PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
  PILLARBOX_ACME__EMAIL: 'you@example.test',
}

function load(t: TestContext, env: Record<string, string>) {
  const cwd = mkdtempSync(path.join(tmpdir(), 'pillarbox-config-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  return loadConfig({ cwd, systemFile: path.join(cwd, 'none'), env: { ...base, ...env } })
}

function refusedKeys(t: TestContext, env: Record<string, string>): string[] {
  try {
    load(t, env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems.map(({ key }) => key)
  }
}

describe('the names of the certificate', () => {
  it('are the hosts of base_url and delivery.hostname, once each', (t) => {
    assert.deepEqual(load(t, {}).acme?.domains, ['app.example.test', 'mail.example.test'])
    const same = { PILLARBOX_BASE_URL: 'https://mail.example.test:8443/x' }
    assert.deepEqual(load(t, same).acme?.domains, ['mail.example.test'])
  })

  it('leave out addresses, localhost and names without a dot', (t) => {
    for (const host of ['192.0.2.1', '[2001:db8::1]', 'localhost', 'app.localhost', 'box']) {
      const env = { PILLARBOX_BASE_URL: `https://${host}` }
      assert.deepEqual(load(t, env).acme?.domains, ['mail.example.test'], host)
    }
  })

  it('must be public: without one, or with a short one, the start is refused', (t) => {
    const local = { PILLARBOX_BASE_URL: 'http://localhost', PILLARBOX_DELIVERY__HOSTNAME: 'box' }
    assert.deepEqual(refusedKeys(t, local), ['acme.domains'])
    for (const domains of ['box', 'a.example.test,localhost', '[]']) {
      assert.deepEqual(refusedKeys(t, { PILLARBOX_ACME__DOMAINS: domains }), ['acme.domains'])
    }
  })
})

describe('a contradiction of acme', () => {
  it('is half of an external account binding', (t) => {
    assert.deepEqual(refusedKeys(t, { PILLARBOX_ACME__EAB_KID: 'a' }), ['acme.eab_hmac_key'])
    const hmac = { PILLARBOX_ACME__EAB_HMAC_KEY: 'a'.repeat(43) }
    assert.deepEqual(refusedKeys(t, hmac), ['acme.eab_kid'])
  })

  it('is an address that another listener has', (t) => {
    const taken = { PILLARBOX_HTTP__LISTEN: '0.0.0.0:80' }
    assert.deepEqual(refusedKeys(t, taken), ['acme.listen'])
  })

  it('is no listener for challenges while http.listen waits for the certificate', (t) => {
    const open = { PILLARBOX_ACME__LISTEN: '[]', PILLARBOX_HTTP__LISTEN: '0.0.0.0:443' }
    assert.deepEqual(refusedKeys(t, open), ['acme.listen'])
    assert.deepEqual(refusedKeys(t, { ...open, PILLARBOX_HTTP__TRUSTED_PROXIES: 'loopback' }), [])
  })

  it('is a file of trusted authorities that cannot be read', (t) => {
    assert.deepEqual(refusedKeys(t, { PILLARBOX_ACME__CA_FILE: 'absent.pem' }), ['acme.ca_file'])
  })
})

describe('the listeners of the ordered certificate', () => {
  it('are HTTPS for clients of this server itself, STARTTLS, and submission on any address', (t) => {
    const mail = {
      PILLARBOX_INBOUND__LISTEN: '0.0.0.0:25',
      PILLARBOX_SUBMISSION__LISTEN: '0.0.0.0:587',
    }
    const served = (env: Record<string, string>) => describeOrdered(load(t, { ...mail, ...env }))
    const forMail = ['STARTTLS at 0.0.0.0:25', 'submission at 0.0.0.0:587']
    const open = { PILLARBOX_HTTP__LISTEN: '0.0.0.0:443' }
    assert.deepEqual(served(open), ['HTTPS at 0.0.0.0:443', ...forMail])
    assert.deepEqual(served({}), forMail, 'on loopback')
    assert.deepEqual(served({ ...open, PILLARBOX_HTTP__TRUSTED_PROXIES: '10.0.0.1' }), forMail)
    assert.deepEqual(served({ ...open, PILLARBOX_BASE_URL: 'http://app.example.test' }), forMail)
  })
})
