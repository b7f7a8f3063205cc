/** Providers that are down, slow, or answer nonsense; and clients that come too often. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, afterEach, before, describe, it, type TestContext } from 'node:test'
import { type IdentityServer, startIdentityServer } from '../../../fakes/identity-server.ts'
import type { Browser, Visit } from './browser.ts'
import { type LoginServer, startLoginServer } from './login-server.ts'

let provider: IdentityServer
before(async () => {
  provider = await startIdentityServer()
})
after(() => provider.stop())
afterEach(() => {
  provider.instead.clear()
  provider.metadata = {}
  provider.userInfo = undefined
  provider.change = (claims) => claims
})

async function open(
  t: TestContext,
  { timeoutMs = 10_000, issuer = provider.origin } = {},
): Promise<LoginServer> {
  const { client, github, origin } = provider
  return startLoginServer(t, {
    accounts: {
      ...{ github: client, disableSignups: false },
      oidc: { ...client, name: 'X', issuer, trustEmail: false, allowSignup: false },
    },
    sites: { googleIssuer: origin, github },
    timeoutMs,
  })
}

async function answer(browser: Browser, name = 'oidc'): Promise<Visit> {
  const { location } = await browser.get(`/oauth/${name}/outbound`)
  if (location?.pathname === '/app/login') return { ...(await browser.get('/app')), location }
  const code = provider.agree(location!)
  return browser.get(
    `/oauth/${name}/callback?code=${code}&state=${location!.searchParams.get('state')}`,
  )
}

const errorOf = ({ location }: Visit) => location?.searchParams.get('error')

const replies: [name: string, reply: (outgoing: ServerResponse) => unknown][] = [
  ['with the status 500', (outgoing) => outgoing.writeHead(500).end('broken')],
  ['with the status 204', (outgoing) => outgoing.writeHead(204).end()],
  [
    'with text that is no JSON',
    (outgoing) => outgoing.writeHead(200, JSON_TYPE).end('{"access_token'),
  ],
  ['with a JSON text', (outgoing) => outgoing.writeHead(200, JSON_TYPE).end('"text"')],
  ['with null', (outgoing) => outgoing.writeHead(200, JSON_TYPE).end('null')],
  [
    'with a page',
    (outgoing) => outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
  ],
  ['with a redirect', (outgoing) => outgoing.writeHead(302, { location: '/elsewhere' }).end()],
  ['by closing the connection', (outgoing) => outgoing.destroy()],
  [
    'with 1 MB',
    (outgoing) => {
      outgoing.writeHead(200, JSON_TYPE)
      outgoing.end(Buffer.alloc(1024 * 1024, ' '))
    },
  ],
]
const JSON_TYPE = { 'content-type': 'application/json' }

describe('a provider that answers', () => {
  for (const [name, reply] of replies) {
    it(`${name} fails the login, and leaves nothing`, async (t) => {
      const server = await open(t)
      const paths = [
        ['/.well-known/openid-configuration', 'oidc'],
        ['/token', 'oidc'],
        ['/jwks', 'oidc'],
        ['/login/oauth/access_token', 'github'],
        ['/user', 'github'],
        ['/user/emails', 'github'],
      ] as const
      for (const [path, kind] of paths) {
        provider.asked.splice(0)
        provider.instead.set(path, reply)
        assert.equal(errorOf(await answer(server.browser(), kind)), 'provider_error', path)
        provider.instead.delete(path)
        assert.ok(!provider.asked.includes('/elsewhere'))
        // Past the pause after a failed discovery.
        server.core.clock.now += 6_000
      }
      const { users, sessions } = await server.people()
      assert.deepEqual([users, sessions], [[], []])
    })
  }

  it('never fails the login when the time is over', async (t) => {
    const server = await open(t, { timeoutMs: 50 })
    for (const path of ['/.well-known/openid-configuration', '/token']) {
      provider.instead.set(path, () => undefined)
      assert.equal(errorOf(await answer(server.browser())), 'provider_error', path)
      provider.instead.clear()
      server.core.clock.now += 6_000
    }
    assert.match(server.log.join(''), /timeout/)
  })

  it('never does not keep the server from stopping', async (t) => {
    const server = await open(t)
    const arrived = new Promise<void>((resolve) => {
      provider.instead.set('/.well-known/openid-configuration', () => resolve())
    })
    const visit = server.browser().get('/oauth/oidc/outbound')
    await arrived
    server.core.identityProviders.stop()
    assert.equal(errorOf(await visit), 'provider_error')
  })
})

describe('discovery', () => {
  it('happens at the first login, not at the start, and once for many', async (t) => {
    provider.asked.splice(0)
    const server = await open(t)
    assert.equal(provider.asked.length, 0)
    await Promise.all([1, 2, 3].map(() => answer(server.browser())))
    const asked = provider.asked.filter((path) => path.includes('well-known'))
    assert.equal(asked.length, 1)
  })

  it('is tried again some seconds after a failure', async (t) => {
    const server = await open(t)
    provider.instead.set('/.well-known/openid-configuration', (outgoing) =>
      outgoing.writeHead(503).end(),
    )
    assert.equal(errorOf(await answer(server.browser())), 'provider_error')
    provider.instead.clear()
    provider.asked.splice(0)
    assert.equal(errorOf(await answer(server.browser())), 'provider_error')
    assert.equal(provider.asked.length, 0)
    server.core.clock.now += 5_000
    assert.equal((await answer(server.browser())).location?.pathname, '/app')
  })

  it('is not kept when it names no usable endpoint', async (t) => {
    const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
    const unusable: unknown[] = [undefined, null, 7, 'no address', 'http://login.example.com/']
    const server = await open(t)
    for (const endpoint of endpoints) {
      for (const url of unusable) {
        provider.metadata = { [endpoint]: url }
        provider.asked.splice(0)
        const visit = await answer(server.browser())
        assert.equal(errorOf(visit), 'provider_error', `${endpoint} ${url}`)
        // The one before was not kept.
        assert.ok(provider.asked.some((path) => path.includes('well-known')))
        server.core.clock.now += 5_000
      }
    }
    provider.metadata = {}
    const mended = await answer(server.browser())
    assert.equal(mended.location?.pathname, '/app')
  })

  it('is refused when the provider names itself differently; the log says how', async (t) => {
    const server = await open(t)
    provider.metadata = { issuer: 'https://other.test/realms/a' }
    assert.equal(errorOf(await answer(server.browser())), 'provider_error')
    assert.match(server.log.join(''), /other\.test\/realms\/a/)
  })

  it('takes an issuer with a final slash as the provider writes it', async (t) => {
    for (const issuer of [provider.origin, `${provider.origin}/`]) {
      provider.metadata = { issuer: `${provider.origin}/` }
      provider.change = (claims) => ({ ...claims, iss: `${provider.origin}/` })
      const server = await open(t, { issuer })
      const visit = await answer(server.browser())
      assert.equal(visit.location?.pathname, '/app', server.log.join(''))
      const [identity] = (await server.people()).identities
      assert.equal(identity?.issuer, `${provider.origin}/`)
    }
  })

  it('leads to http endpoints on this machine only', async (t) => {
    for (const url of ['javascript:alert(1)', 'http://login.example.com/', 'ftp://127.0.0.1/']) {
      provider.metadata = { authorization_endpoint: url }
      const server = await open(t)
      assert.equal(errorOf(await server.browser().get('/oauth/oidc/outbound')), 'provider_error')
    }
    provider.metadata = { token_endpoint: 'http://login.example.com/' }
    const server = await open(t)
    assert.equal(errorOf(await answer(server.browser())), 'provider_error')
    assert.match(server.log.join(''), /login\.example\.com: no https/)
  })
})

describe('the address of a user', () => {
  it('comes from the user info endpoint if the id token says none', async (t) => {
    provider.change = ({ email: _, email_verified: __, ...claims }) => claims
    provider.userInfo = { sub: 'ann-1', email: 'ann@people.test', email_verified: 'true' }
    const server = await open(t)
    assert.equal((await answer(server.browser())).location?.pathname, '/app')
    assert.equal((await server.people()).users[0]?.address, 'ann@people.test')
  })

  it('of another subject there is refused', async (t) => {
    provider.change = ({ email: _, ...claims }) => claims
    provider.userInfo = { sub: 'eve', email: 'ann@people.test', email_verified: true }
    const server = await open(t)
    assert.equal(errorOf(await answer(server.browser())), 'provider_error')
  })

  it('and its verification come from one source', async (t) => {
    provider.change = (claims) => ({ ...claims, email_verified: false })
    provider.userInfo = { sub: 'ann-1', email_verified: true }
    const server = await open(t)
    assert.equal(errorOf(await answer(server.browser())), 'email_unverified')
    provider.change = ({ email: _, ...claims }) => ({ ...claims, email_verified: true })
    provider.userInfo = { sub: 'ann-1', email: 'ann@people.test' }
    assert.equal(errorOf(await answer(server.browser())), 'email_unverified')
  })
})

describe('a client', () => {
  it('that is registered for the other way to send its secret is tried with it', async (t) => {
    const server = await open(t)
    let refusals = 0
    provider.instead.set('/token', (outgoing, incoming) => {
      if (incoming.headers.authorization === undefined) {
        provider.instead.delete('/token')
        refusals += 100
      }
      refusals += 1
      const challenge = { 'www-authenticate': 'Basic realm="x"' }
      outgoing.writeHead(401, { ...JSON_TYPE, ...challenge }).end('{"error":"invalid_client"}')
    })
    assert.equal(errorOf(await answer(server.browser())), 'provider_error')
    assert.equal(refusals, 102)
    assert.equal((await answer(server.browser())).location?.pathname, '/app')
  })

  it('S26: that comes more than 60 times in a minute is sent away for the rest of it', async (t) => {
    const server = await open(t)
    const browser = server.browser()
    for (let count = 0; count < 60; count += 1) {
      const { location } = await browser.get('/oauth/github/outbound')
      assert.equal(location?.origin, provider.origin)
    }
    const over = await browser.get('/oauth/github/outbound')
    assert.equal(errorOf(over), 'too_many_attempts')
    assert.deepEqual(over.cookies, [])
    // Answers have a limit of their own.
    assert.equal(errorOf(await browser.get('/oauth/github/callback')), 'state_mismatch')
    server.core.clock.now += 60_000
    const later = await browser.get('/oauth/github/outbound')
    assert.equal(later.location?.origin, provider.origin)
  })
})
