/** What strangers, other browsers and providers that lie can do at the callback: nothing. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import type { ProviderName } from '../../../../src/features/tenancy/accounts/oauth/provider.ts'
import { ANN, type IdentityServer, startIdentityServer } from '../../../fakes/identity-server.ts'
import { addUser, logIn } from '../../../session.ts'
import type { Browser, Visit } from './browser.ts'
import { BASE_URL, type LoginServer, startLoginServer } from './login-server.ts'

let provider: IdentityServer
let server: LoginServer
const stops: (() => Promise<void>)[] = []

before(async () => {
  provider = await startIdentityServer()
  const { client, origin, github } = provider
  server = await startLoginServer(
    { after: (stop?: unknown) => void stops.push(stop as () => Promise<void>) },
    {
      accounts: {
        ...{ github: client, google: client, disableSignups: false },
        oidc: { ...client, name: 'X', issuer: origin, trustEmail: false, allowSignup: false },
      },
      sites: { googleIssuer: origin, github },
    },
  )
})
after(async () => {
  for (const stop of stops) await stop()
  await provider.stop()
})
beforeEach(() => {
  provider.change = (claims) => claims
  provider.sign = (claims) => provider.signRightly(claims)
  provider.metadata = {}
  provider.asked.length = 0
  // A minute later, so that the limit of the network does not count all tests together.
  server.core.clock.now += 60_000
})

type Begun = { browser: Browser; answer: URL; sent: URL }

/** Begins a login, and agrees at the provider; `answer` is where the browser would go now. */
async function begin(name: ProviderName = 'oidc', browser = server.browser()): Promise<Begun> {
  const { location, status } = await browser.get(`/oauth/${name}/outbound`)
  assert.equal(status, 302)
  assert.ok(location)
  const answer = new URL(location.searchParams.get('redirect_uri') ?? '')
  answer.searchParams.set('code', provider.agree(location))
  answer.searchParams.set('state', location.searchParams.get('state') ?? '')
  return { browser, answer, sent: location }
}

async function expectFailure(visit: Visit, code: string): Promise<void> {
  assert.equal(visit.location?.href, `${BASE_URL}/app/login?error=${code}`, server.log.join(''))
  const sets = visit.cookies.filter((cookie) => /_session=/.test(cookie))
  assert.deepEqual(sets, [])
}

async function expectNobody(act: () => Promise<unknown>): Promise<void> {
  const before = await server.people()
  await act()
  assert.deepEqual(await server.people(), before)
}

describe('a request to the provider', () => {
  it('has state, nonce, PKCE and the callback of base_url, whatever the Host header says', async () => {
    const browser = server.browser()
    const headers = { host: 'evil.localhost', 'x-forwarded-host': 'evil.test' }
    const { location, cookies } = await browser.get('/oauth/oidc/outbound?redirect_uri=x', headers)
    const { searchParams } = location!
    assert.equal(searchParams.get('redirect_uri'), `${BASE_URL}/oauth/oidc/callback`)
    assert.equal(searchParams.get('code_challenge_method'), 'S256')
    assert.equal(searchParams.get('response_type'), 'code')
    for (const name of ['state', 'nonce', 'code_challenge']) {
      assert.match(searchParams.get(name) ?? '', /^[\w-]{43}$/, name)
    }
    assert.equal(cookies.length, 1)
    assert.match(
      cookies[0]!,
      /^__Host-pillarbox_login_oidc=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    )
    // The cookie shows nothing of it.
    assert.ok(!cookies[0]!.includes(searchParams.get('state')!))
  })

  it('differs each time', async () => {
    const [one, other] = [await begin(), await begin()]
    for (const name of ['state', 'nonce', 'code_challenge']) {
      assert.notEqual(one.sent.searchParams.get(name), other.sent.searchParams.get(name))
    }
  })
})

describe('an answer that does not belong to the browser', () => {
  const cases: [name: string, change: (begun: Begun) => unknown][] = [
    ['without a cookie', ({ browser }) => browser.jar.clear()],
    ['without a state', ({ answer }) => answer.searchParams.delete('state')],
    ['with a forged state', ({ answer }) => answer.searchParams.set('state', 'x'.repeat(43))],
    ['with two states', ({ answer }) => answer.searchParams.append('state', 'x')],
    [
      "with another browser's cookie",
      async ({ browser }) => {
        const other = await begin()
        for (const [name, value] of other.browser.jar) browser.jar.set(name, value)
      },
    ],
    [
      "with another browser's answer",
      async ({ answer }) => {
        answer.search = (await begin()).answer.search
      },
    ],
    [
      'with a changed cookie',
      ({ browser }) => {
        const [[name, value] = ['', '']] = [...browser.jar]
        browser.jar.set(name, `${value.slice(0, -2)}AA`)
      },
    ],
    [
      'with a cookie that claims no encryption',
      ({ browser, answer }) => {
        const token = new UnsecuredJWT({
          state: answer.searchParams.get('state'),
          ...{ nonce: 'n', verifier: 'v', aud: 'oidc', exp: Date.now() },
        }).encode()
        browser.jar.set('__Host-pillarbox_login_oidc', token)
      },
    ],
    [
      'with a cookie of 8 KB',
      ({ browser }) => browser.jar.set('__Host-pillarbox_login_oidc', 'e'.repeat(8_000)),
    ],
    [
      'with the cookie and state of another provider',
      async ({ browser, answer }) => {
        const google = await begin('google')
        const cookie = google.browser.jar.get('__Host-pillarbox_login_google')!
        browser.jar.set('__Host-pillarbox_login_oidc', cookie)
        answer.search = google.answer.search
      },
    ],
    [
      'with the issuer of another provider (mix-up)',
      ({ answer }) => answer.searchParams.set('iss', 'https://evil.test'),
    ],
  ]
  for (const [name, change] of cases) {
    it(`${name} is refused, and no code is redeemed`, async () => {
      const begun = await begin()
      await change(begun)
      provider.asked.length = 0
      await expectNobody(async () =>
        expectFailure(await begun.browser.get(begun.answer.href), 'state_mismatch'),
      )
      assert.ok(!provider.asked.includes('/token'))
    })
  }

  it('is refused for GitHub with a foreign issuer, and taken with its own', async () => {
    const foreign = await begin('github')
    foreign.answer.searchParams.set('iss', provider.origin)
    await expectFailure(await foreign.browser.get(foreign.answer.href), 'state_mismatch')
  })

  it('is refused after ten minutes, though the browser kept the cookie', async () => {
    const { browser, answer } = await begin()
    server.core.clock.now += 601_000
    await expectNobody(async () => expectFailure(await browser.get(answer.href), 'expired'))
  })

  it('is refused the second time, with the cookie that was copied before', async () => {
    const { browser, answer } = await begin()
    const copy = server.browser()
    for (const [name, value] of browser.jar) copy.jar.set(name, value)
    assert.equal((await browser.get(answer.href)).location?.pathname, '/app')
    answer.searchParams.set('code', provider.agree((await begin()).sent))
    await expectNobody(async () => expectFailure(await copy.get(answer.href), 'state_mismatch'))
    assert.equal(browser.jar.has('__Host-pillarbox_login_oidc'), false)
  })

  it('S17: a login of an attacker does not log in a stranger who opens its link', async () => {
    const attacker = await begin()
    const victim = server.browser()
    await expectNobody(async () =>
      expectFailure(await victim.get(attacker.answer.href), 'state_mismatch'),
    )
    assert.deepEqual([...victim.jar], [])
  })
})

describe('a code', () => {
  it('of another login is worth nothing: its PKCE challenge differs', async () => {
    const [mine, stolen] = [await begin(), await begin()]
    mine.answer.searchParams.set('code', stolen.answer.searchParams.get('code')!)
    await expectNobody(async () =>
      expectFailure(await mine.browser.get(mine.answer.href), 'provider_error'),
    )
  })

  it('that the provider does not know, or none, is a failure of the login', async () => {
    for (const code of ['unknown', '']) {
      const { browser, answer } = await begin()
      answer.searchParams.set('code', code)
      await expectNobody(async () =>
        expectFailure(await browser.get(answer.href), 'provider_error'),
      )
    }
  })
})

describe('an id token is refused', () => {
  const claims: [name: string, change: (claims: JWTPayload) => JWTPayload][] = [
    ['for another client', (own) => ({ ...own, aud: 'another' })],
    ['of another issuer', (own) => ({ ...own, iss: 'https://evil.test' })],
    ['with another nonce', (own) => ({ ...own, nonce: 'another' })],
    ['without a nonce', ({ nonce: _, ...own }) => own],
    ['that is over', (own) => ({ ...own, iat: 1_000, exp: 2_000 })],
    ['without an end', ({ exp: _, ...own }) => own],
    ['without a subject', ({ sub: _, ...own }) => own],
    ['with a subject that is no text', (own) => ({ ...own, sub: 5 as unknown as string })],
    ['with an empty subject', (own) => ({ ...own, sub: '' })],
    ['with a subject of 300 characters', (own) => ({ ...own, sub: 'x'.repeat(300) })],
    [
      'for many clients, of which another asked',
      (own) => ({ ...own, aud: ['pillarbox', 'x'], azp: 'x' }),
    ],
  ]
  for (const [name, change] of claims) {
    it(name, async () => {
      provider.change = change
      const { browser, answer } = await begin()
      await expectNobody(async () =>
        expectFailure(await browser.get(answer.href), 'provider_error'),
      )
    })
  }

  const signatures: [name: string, sign: (claims: JWTPayload) => Promise<string>][] = [
    ['without a signature (alg none)', async (own) => new UnsecuredJWT(own).encode()],
    [
      'of a foreign key',
      async (own) => {
        const { privateKey } = await generateKeyPair('RS256')
        return new SignJWT(own).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(privateKey)
      },
    ],
    [
      'with a key in its own header',
      async (own) => {
        const { privateKey, publicKey } = await generateKeyPair('RS256')
        const header = { alg: 'RS256', jwk: await exportJWK(publicKey) }
        return new SignJWT(own).setProtectedHeader(header).sign(privateKey)
      },
    ],
    [
      "signed with the client's secret",
      async (own) =>
        new SignJWT(own)
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(provider.client.clientSecret.padEnd(32))),
    ],
    [
      'with a changed claim',
      async (own) => {
        const [head, , signature] = (await provider.signRightly(own)).split('.')
        const body = Buffer.from(JSON.stringify({ ...own, sub: 'root' })).toString('base64url')
        return `${head}.${body}.${signature}`
      },
    ],
    ['that is none', async () => 'not.a.token'],
  ]
  for (const [name, sign] of signatures) {
    it(name, async () => {
      provider.sign = sign
      const { browser, answer } = await begin()
      await expectNobody(async () =>
        expectFailure(await browser.get(answer.href), 'provider_error'),
      )
    })
  }
})

describe('an answer with an error', () => {
  it('leads to a page that has nothing of what it says', async () => {
    const { browser, answer } = await begin()
    const html = '<img src=x onerror=alert(1)>'
    answer.searchParams.set('error', html)
    answer.searchParams.set('error_description', html)
    const visit = await browser.get(answer.href)
    await expectFailure(visit, 'provider_error')
    const page = await browser.get(visit.location!.href)
    assert.ok(!page.text.includes('onerror'))
    const forged = await browser.get(`/app/login?error=${encodeURIComponent(html)}`)
    assert.equal(forged.status, 200)
    assert.ok(!forged.text.includes('onerror'))
  })

  it('says access_denied if the user refused', async () => {
    const { browser, answer } = await begin()
    answer.searchParams.set('error', 'access_denied')
    await expectFailure(await browser.get(answer.href), 'access_denied')
  })
})

describe('no parameter', () => {
  it('leads elsewhere than to the provider and to the pages of this server', async () => {
    const evil = 'next=https://evil.test&redirect=//evil.test&return_to=https://evil.test'
    const browser = server.browser()
    const out = await browser.get(`/oauth/oidc/outbound?${evil}`)
    assert.equal(out.location?.origin, provider.origin)
    assert.ok(!out.location?.href.includes('evil'))
    const { answer, browser: other } = await begin()
    answer.search += `&${evil}`
    assert.equal((await other.get(answer.href)).location?.href, `${BASE_URL}/app`)
  })
})

describe('S16: an account', () => {
  it('with a password is not taken over by its address at a provider', async () => {
    const { id } = await addUser(server.core, { address: 'carol@people.test' })
    for (const name of ['oidc', 'google'] as const) {
      const user = { ...ANN, sub: 'carol', email: 'CAROL@people.test' }
      const browser = server.browser()
      const { location } = await browser.get(`/oauth/${name}/outbound`)
      const code = provider.agree(location!, user)
      const state = location!.searchParams.get('state')
      const visit = await browser.get(`/oauth/${name}/callback?code=${code}&state=${state}`)
      await expectFailure(visit, 'method_mismatch')
    }
    const { identities, sessions } = await server.people()
    assert.ok(!identities.some(({ userId }) => userId === id))
    assert.ok(!sessions.some(({ userId }) => userId === id))
  })

  it('is another one for the same subject of another issuer, and for another subject', async () => {
    const first = await begin()
    assert.equal((await first.browser.get(first.answer.href)).location?.pathname, '/app')
    provider.change = (claims) => ({ ...claims, sub: 'ann-2' })
    const { browser, answer } = await begin()
    await expectNobody(async () => expectFailure(await browser.get(answer.href), 'method_mismatch'))
  })

  it("gets a new session: one that was planted in the browser ends, and another user's stays", async () => {
    const { id } = await addUser(server.core)
    const planted = await logIn(server.core, id)
    const other = await logIn(server.core, id)
    const browser = server.browser()
    const [name = '', value = ''] = planted.split('=')
    browser.jar.set(name, value)
    const { answer } = await begin('oidc', browser)
    assert.equal((await browser.get(answer.href)).location?.pathname, '/app')
    assert.notEqual(browser.jar.get(name), value)
    const { sessions } = await server.people()
    assert.equal(sessions.filter(({ userId }) => userId === id).length, 1)
    const kept = server.browser()
    kept.jar.set(name, other.split('=')[1]!)
    assert.equal((await kept.get('/users/@me')).status, 200)
  })
})

it('the log has neither codes nor states, tokens nor secrets', async () => {
  const { browser, answer, sent } = await begin()
  await browser.get(answer.href)
  const failing = await begin()
  provider.change = (claims) => ({ ...claims, nonce: 'wrong' })
  await failing.browser.get(failing.answer.href)
  const text = server.log.join('')
  assert.match(text, /login with a provider failed/)
  const secrets = [answer, failing.answer, sent, failing.sent].flatMap(({ searchParams }) =>
    ['code', 'state', 'nonce'].map((name) => searchParams.get(name)),
  )
  for (const secret of [...secrets, provider.client.clientSecret, 'eyJ']) {
    if (secret !== null) assert.ok(!text.includes(secret), secret)
  }
})
