/** Whole logins at a real OpenID provider, with its forms, by a browser. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { GITHUB } from '../../../../src/features/tenancy/accounts/oauth/github-provider.ts'
import { type OpenidProvider, startOpenidProvider } from '../../../fakes/openid-provider.ts'
import type { Browser, Visit } from './browser.ts'
import { BASE_URL, startLoginServer } from './login-server.ts'

let provider: OpenidProvider

before(async () => {
  provider = await startOpenidProvider([
    { id: 'own', secret: 'a secret', callback: `${BASE_URL}/oauth/oidc/callback` },
    {
      ...{ id: 'google', secret: 'another', callback: `${BASE_URL}/oauth/google/callback` },
      method: 'client_secret_post',
    },
  ])
  provider.users.set('ann', { email: 'Ann@People.test', email_verified: true })
  provider.users.set('bob', { email: 'bob@people.test', email_verified: false })
})
after(() => provider.stop())

const accountsOf = () => ({
  google: { clientId: 'google', clientSecret: 'another' },
  oidc: {
    ...{ clientId: 'own', clientSecret: 'a secret', name: 'Example', issuer: provider.issuer },
    ...{ trustEmail: false, allowSignup: false },
  },
  disableSignups: false,
})

const sitesOf = () => ({ googleIssuer: provider.issuer, github: GITHUB })

/** Logs in at the provider's forms, and agrees. */
async function walk(browser: Browser, name: 'oidc' | 'google', user: string): Promise<Visit> {
  let visit = await browser.get(`/oauth/${name}/outbound`)
  for (let step = 0; step < 12; step += 1) {
    const next = visit.location
    if (next?.pathname === `/oauth/${name}/callback`) return browser.get(next.href)
    if (next !== null) {
      visit = await browser.get(next.href)
      continue
    }
    const [, action = ''] = /action="([^"]+)"/.exec(visit.text) ?? []
    const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(visit.text) ?? []
    visit = await browser.post(action, { prompt, login: user, password: 'any' })
  }
  throw new Error('the login did not come back')
}

for (const name of ['oidc', 'google'] as const) {
  describe(`a login with ${name}`, () => {
    it('makes a user at the first time, and finds it later', async (t) => {
      const server = await startLoginServer(t, { accounts: accountsOf(), sites: sitesOf() })
      const browser = server.browser()
      const visit = await walk(browser, name, 'ann')
      assert.equal(visit.location?.href, `${BASE_URL}/app`, server.log.join(''))
      const { users, identities, sessions } = await server.people()
      assert.deepEqual(
        users.map(({ address, method, passwordHash, verifiedAt }) => [
          ...[address, method, passwordHash, verifiedAt !== null],
        ]),
        [['ann@people.test', name.toUpperCase(), null, true]],
      )
      assert.deepEqual(
        identities.map(({ issuer, subject, userId }) => [issuer, subject, userId]),
        [[provider.issuer, 'ann', users[0]!.id]],
      )
      assert.equal(sessions.length, 1)
      assert.deepEqual([...browser.jar.keys()], ['__Host-pillarbox_session'])
      const self = await browser.get('/users/@me')
      assert.equal(JSON.parse(self.text).email, 'ann@people.test')

      const other = server.browser()
      provider.users.set('ann', { email: 'moved@people.test', email_verified: true })
      assert.equal((await walk(other, name, 'ann')).location?.href, `${BASE_URL}/app`)
      provider.users.set('ann', { email: 'Ann@People.test', email_verified: true })
      const later = await server.people()
      assert.deepEqual([later.users.length, later.users[0]!.address], [1, 'ann@people.test'])
      assert.equal(later.sessions.length, 2)
    })
  })
}

it('an unverified address makes no user, unless accounts.oidc.trust_email is set', async (t) => {
  const server = await startLoginServer(t, { accounts: accountsOf(), sites: sitesOf() })
  const refused = await walk(server.browser(), 'oidc', 'bob')
  assert.equal(refused.location?.href, `${BASE_URL}/app/login?error=email_unverified`)
  const { users, sessions } = await server.people()
  assert.deepEqual([users.length, sessions.length], [0, 0])

  const accounts = accountsOf()
  accounts.oidc.trustEmail = true
  const trusting = await startLoginServer(t, { accounts, sites: sitesOf() })
  const taken = await walk(trusting.browser(), 'oidc', 'bob')
  assert.equal(taken.location?.href, `${BASE_URL}/app`)
  assert.equal((await trusting.people()).users[0]!.address, 'bob@people.test')
})

it('accounts.oidc.trust_email does not count for Google', async (t) => {
  const accounts = accountsOf()
  accounts.oidc.trustEmail = true
  const server = await startLoginServer(t, { accounts, sites: sitesOf() })
  const refused = await walk(server.browser(), 'google', 'bob')
  assert.equal(refused.location?.href, `${BASE_URL}/app/login?error=email_unverified`)
})

it('a refusal at the provider ends at the login page', async (t) => {
  const server = await startLoginServer(t, { accounts: accountsOf(), sites: sitesOf() })
  const browser = server.browser()
  const { location } = await browser.get('/oauth/oidc/outbound')
  let visit = await browser.get(location!.href)
  visit = await browser.get(visit.location!.href)
  const [, abort = ''] = /href="([^"]+\/abort)"/.exec(visit.text) ?? []
  visit = await browser.get(abort)
  visit = await browser.get(visit.location!.href)
  assert.equal(visit.location?.pathname, '/oauth/oidc/callback')
  const end = await browser.get(visit.location!.href)
  assert.equal(end.location?.href, `${BASE_URL}/app/login?error=access_denied`)
})
