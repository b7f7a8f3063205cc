/** The pages at /app: what they show, and to whom. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { LOGIN_FAILURES } from '../../../src/features/tenancy/accounts/oauth/login-failure.ts'
import { createProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { textsOf } from '../../../src/texts/texts.ts'
import { addUser, logIn } from '../../session.ts'
import { FOREIGN_SITE } from '../foreign-site.ts'
import type { Browser } from './oauth/browser.ts'
import { BASE_URL, type LoginServer, startLoginServer } from './oauth/login-server.ts'

const stops: (() => Promise<void>)[] = []
const t = { after: (stop?: unknown) => void stops.push(stop as () => Promise<void>) }
const client = { clientId: 'a', clientSecret: 'b' }
const oidc = { ...client, issuer: 'https://id.example', trustEmail: false, allowSignup: false }
let server: LoginServer

before(async () => {
  const accounts = { github: client, oidc: { ...oidc, name: 'Bücher & <b>Söhne</b>' } }
  server = await startLoginServer(t, { accounts })
})
after(async () => {
  for (const stop of stops) await stop()
})

async function loggedIn(change = {}): Promise<Browser> {
  const { id } = await addUser(server.core, change)
  const [name = '', value = ''] = (await logIn(server.core, id)).split('=')
  const browser = server.browser()
  browser.jar.set(name, value)
  return browser
}

describe('the page /app', () => {
  it('leads to the login page without a session', async () => {
    const visit = await server.browser().get('/app')
    assert.deepEqual([visit.status, visit.location?.href], [303, `${BASE_URL}/app/login`])
  })

  it('says who has logged in, in the language of the user', async () => {
    const browser = await loggedIn({ address: "o'neil+x@people.test", language: 'nl' })
    for (const path of ['/app', '/app/']) {
      const { status, text } = await browser.get(path, { 'accept-language': 'fr' })
      assert.equal(status, 200)
      assert.ok(text.includes('<bdi>o&#39;neil+x@people.test</bdi>'))
      assert.ok(text.includes('<html lang="nl"'))
      assert.ok(
        text.includes('action="/app/logout"') && text.includes('href="/docs/guide/accounts"'),
      )
    }
  })

  it('says what a program needs: the id of a project, and a cookie or a password', async () => {
    const { id, address } = await addUser(server.core, { address: "o'hara@people.test" })
    const [name = '', value = ''] = (await logIn(server.core, id)).split('=')
    const browser = server.browser()
    browser.jar.set(name, value)
    const read = async () =>
      (await browser.get('/app')).text.replaceAll('&#39;', "'").replaceAll('&quot;', '"')
    const empty = await read()
    assert.ok(empty.includes(textsOf('en').app.home.next))
    assert.ok(empty.includes(`curl -sS -b cookies.txt ${BASE_URL}/users/@me/projects -H`), empty)
    assert.ok(empty.includes(`-d '{"email":"o'\\''hara@people.test","password":"…"}'`), empty)
    const made = await createProject(server.core, { name: '<b>Shop</b>', ownerAddress: address })
    const text = await read()
    assert.ok(
      text.includes(`<bdi>&lt;b&gt;Shop&lt;/b&gt;</bdi></strong><br><code>${made.id}</code>`),
    )
    assert.ok(text.includes(`-H 'X-Project-Id: ${made.id}' ${BASE_URL}/contacts`))
    assert.ok(!text.includes(made.secret))
  })

  it('has no scripts, and cannot be framed', async () => {
    const browser = await loggedIn()
    for (const path of ['/app', '/app/login', '/app/nothing']) {
      const { headers } = await fetch(server.url + path, {
        headers: { cookie: [...browser.jar].map((pair) => pair.join('=')).join('; ') },
      })
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:/)
      assert.match(policy, /form-action 'self'; frame-ancestors 'none'$/)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.doesNotMatch((await browser.get(path)).text, /<script|onclick|javascript:/)
    }
  })
})

describe('the page /app/login', () => {
  it('has a link for each configured provider, at base_url, and says how programs log in', async () => {
    const { text } = await server.browser().get('/app/login')
    assert.deepEqual(
      [...text.matchAll(/class="button" href="([^"]+)"/g)].map(([, href]) => href),
      [`${BASE_URL}/oauth/github/outbound`, `${BASE_URL}/oauth/oidc/outbound`],
    )
    assert.ok(text.includes('Log in with <bdi>GitHub</bdi>'))
    assert.ok(text.includes('<bdi>Bücher &amp; &lt;b&gt;Söhne&lt;/b&gt;</bdi>'))
    assert.ok(text.includes('POST /auth/login'))
    assert.ok(!text.includes('role="alert"'))
  })

  it('says how to log in and how to get an account, as the server is set up', async (own) => {
    const { text } = await server.browser().get('/app/login')
    const logIn = `curl -sS -c cookies.txt ${BASE_URL}/auth/login -H`
    const signUp = `curl -sS -c cookies.txt ${BASE_URL}/auth/signup -H`
    const open = !server.core.config.accounts.disableSignups
    assert.ok(text.includes(logIn))
    assert.equal(text.includes(signUp), open)
    assert.equal(text.includes(textsOf('en').app.login.closed), !open)
    const accounts = { github: client, disableSignups: open }
    const other = await startLoginServer(own, { accounts })
    const changed = (await other.browser().get('/app/login', { 'accept-language': 'de' })).text
    assert.equal(changed.includes(signUp), !open)
    const { closed, signUp: offered } = textsOf('de').app.login
    assert.ok(changed.includes(open ? closed : offered))
  })

  it('explains each failure in the language of the browser', async () => {
    for (const code of LOGIN_FAILURES) {
      const headers = { 'accept-language': 'de-AT' }
      const { text } = await server.browser().get(`/app/login?error=${code}`, headers)
      const shown = text.replaceAll('&#39;', "'")
      assert.ok(shown.includes(textsOf('de').app.failures[code]), code)
    }
  })

  it('shows a general text for any other code, and never the code', async () => {
    for (const code of ['toString', '__proto__', '<i>x</i>', '%E0%A4', 'other']) {
      const { text } = await server.browser().get(`/app/login?error=${code}`)
      assert.ok(!text.includes('<i>') && !text.includes('__proto__'))
    }
    const { text } = await server.browser().get('/app/login?error=nothing')
    assert.ok(text.includes(textsOf('en').app.failures.other))
  })
})

describe('POST /app/logout', () => {
  it('ends the session and no other', async () => {
    const [browser, other] = [await loggedIn(), await loggedIn()]
    const copy = new Map(browser.jar)
    const visit = await browser.post('/app/logout', {}, { origin: BASE_URL })
    assert.deepEqual([visit.status, visit.location?.pathname], [303, '/app/login'])
    assert.equal(browser.jar.size, 0)
    for (const [name, value] of copy) browser.jar.set(name, value)
    assert.equal((await browser.get('/app')).status, 303)
    assert.equal((await other.get('/app')).status, 200)
  })

  it('is possible over clear HTTP: the page lets browsers say the origin of its form', async () => {
    const browser = await loggedIn()
    const { headers } = await fetch(`${server.url}/app`, {
      headers: { cookie: [...browser.jar].map((pair) => pair.join('=')).join('; ') },
    })
    assert.equal(headers.get('referrer-policy'), 'same-origin')
  })

  it('S17: is refused from a page of another site', async () => {
    const browser = await loggedIn()
    for (const headers of FOREIGN_SITE) {
      const { status, cookies } = await browser.post('/app/logout', {}, headers)
      assert.deepEqual([status, cookies], [403, []])
    }
    assert.equal((await browser.get('/app')).status, 200)
  })

  it('does no harm without a session, and is no GET', async () => {
    const visit = await server.browser().post('/app/logout')
    assert.equal(visit.status, 303)
    const browser = await loggedIn()
    assert.equal((await browser.get('/app/logout')).status, 404)
    assert.equal((await browser.get('/app')).status, 200)
  })
})

it('an unknown page below /app is a page that leads to /app', async () => {
  const { status, text } = await server.browser().get('/app/settings/keys')
  assert.equal(status, 404)
  assert.ok(text.includes('There is no such page') && text.includes('href="/app"'))
})

it('a path of base_url is part of all links', async (own) => {
  const baseUrl = 'https://pillarbox.test/mail'
  const below = await startLoginServer(own, { accounts: { github: client }, baseUrl })
  const visit = await below.browser().get('https://pillarbox.test/app')
  assert.equal(visit.location?.href, `${baseUrl}/app/login`)
  const { text } = await below.browser().get('https://pillarbox.test/app/login')
  assert.ok(text.includes(`href="${baseUrl}/oauth/github/outbound"`))
  assert.ok(text.includes('href="/mail/docs/guide/accounts"'))
  const { location } = await below.browser().get('https://pillarbox.test/oauth/github/outbound')
  const callback = location?.searchParams.get('redirect_uri')
  assert.equal(callback, `${baseUrl}/oauth/github/callback`)
})

it('without https the cookies have plain names and are not Secure', async (own) => {
  const plain = await startLoginServer(own, {
    ...{ accounts: { github: client }, baseUrl: 'http://localhost:8080' },
  })
  const { cookies } = await plain.browser().get('/oauth/github/outbound')
  assert.match(
    cookies[0] ?? '',
    /^pillarbox_login_github=[^;]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
  )
})

it('GET /auth/oauth-config names the configured providers; others are 404', async () => {
  const browser = server.browser()
  const { text } = await browser.get('/auth/oauth-config')
  const data = { github: true, google: false, oidc: { name: 'Bücher & <b>Söhne</b>' } }
  assert.deepEqual(JSON.parse(text), { success: true, data })
  for (const name of ['google', 'facebook', 'toString', 'GITHUB']) {
    for (const end of ['outbound', 'callback?code=a&state=b']) {
      const visit = await browser.get(`/oauth/${name}/${end}`)
      assert.equal(visit.status, 404)
      assert.equal(JSON.parse(visit.text).error.code, 'RESOURCE_NOT_FOUND')
      assert.ok(!visit.text.includes('code=a'))
    }
  }
})
