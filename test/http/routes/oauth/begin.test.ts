/** Where a login with a provider begins. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { BASE_URL, type LoginServer, startLoginServer } from './login-server.ts'

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

it('a path of base_url is part of the address that the provider leads back to', async (own) => {
  const baseUrl = 'https://pillarbox.test/mail'
  const below = await startLoginServer(own, { accounts: { github: client }, baseUrl })
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

it('the providers that are configured are named for the page of the log-in', async () => {
  const browser = server.browser()
  const data = { github: true, google: false, oidc: { name: 'Bücher & <b>Söhne</b>' } }
  const { text } = await browser.get('/auth/oauth-config')
  assert.deepEqual(JSON.parse(text), { success: true, data })
  const { features, urls } = JSON.parse((await browser.get('/config')).text)
  assert.deepEqual([features.authProviders, urls.api], [data, BASE_URL])
})

it('a provider that is not configured is a 404', async () => {
  for (const name of ['google', 'facebook', 'toString', 'GITHUB']) {
    for (const end of ['outbound', 'callback?code=a&state=b']) {
      const visit = await server.browser().get(`/oauth/${name}/${end}`)
      assert.equal(visit.status, 404)
      assert.equal(JSON.parse(visit.text).error.code, 'RESOURCE_NOT_FOUND')
      assert.ok(!visit.text.includes('code=a'))
    }
  }
})
