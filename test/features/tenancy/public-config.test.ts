import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { describeInstance } from '../../../src/features/tenancy/public-config.ts'

type Listen = Config['submission']['listen']

const closed = { isSetupOpen: false, version: null }

function describe(settings: Record<string, string>, listen: Listen = [], shown = closed) {
  const env = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`PILLARBOX_${name}`, value]),
  )
  const config = loadConfig({ cwd: '/tmp', systemFile: path.join('/tmp', 'none'), env })
  return describeInstance({ ...config, submission: { listen, tls: null } }, shown)
}

test('a sandbox has nothing to log in with but passwords, and takes sign-ups', () => {
  assert.deepEqual(describe({}), {
    environment: 'sandbox',
    urls: {
      api: 'http://localhost:8080',
      dashboard: 'http://localhost:8080/app',
      landing: 'http://localhost:8080',
      wiki: 'http://localhost:8080/docs',
    },
    features: {
      billing: { enabled: false },
      storage: { s3Enabled: true },
      authProviders: { github: false, google: false, oidc: null },
      signup: { signupsDisabled: false },
      email: { trackingToggleEnabled: true },
      smtp: { enabled: false, domain: null, ports: null },
      sponsor: { enabled: false },
    },
    aws: { sesRegion: null, mailFromSubdomain: 'bounce' },
    setup: { needed: false },
  })
})

test('providers, addresses and ports are those of the configuration, without secrets', () => {
  const listen = [
    { host: '0.0.0.0', port: 587, isTls: false },
    { host: '0.0.0.0', port: 465, isTls: true },
    { host: '0.0.0.0', port: 2525, isTls: false },
  ]
  const settings = {
    BASE_URL: 'https://mail.shop.test/',
    DELIVERY__MODE: 'direct',
    DELIVERY__HOSTNAME: 'mx.shop.test',
    ACCOUNTS__GITHUB__CLIENT_ID: 'github-id',
    ACCOUNTS__GITHUB__CLIENT_SECRET: 'github-secret',
    ACCOUNTS__OIDC__ISSUER: 'https://login.shop.test',
    ACCOUNTS__OIDC__CLIENT_ID: 'oidc-id',
    ACCOUNTS__OIDC__CLIENT_SECRET: 'oidc-secret',
  }
  const described = describe(settings, listen)
  assert.equal(described.environment, 'direct')
  assert.equal(described.urls.dashboard, 'https://mail.shop.test/app')
  const { authProviders, signup, smtp } = described.features
  assert.deepEqual(authProviders, {
    ...{ github: true, google: false, oidc: { name: 'login.shop.test' } },
  })
  assert.deepEqual(signup, { signupsDisabled: true })
  assert.deepEqual(smtp, {
    ...{ enabled: true, domain: 'mx.shop.test', ports: { secure: 465, submission: 587 } },
  })
  for (const secret of ['github-id', 'github-secret', 'oidc-id', 'oidc-secret']) {
    assert.equal(JSON.stringify(described).includes(secret), false, secret)
  }
})
