/** The end of a session by the form of a hosted page. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { addUser, logIn } from '../../session.ts'
import { FOREIGN_SITE } from '../foreign-site.ts'
import type { Browser } from './oauth/browser.ts'
import { BASE_URL, type LoginServer, startLoginServer } from './oauth/login-server.ts'

const stops: (() => Promise<void>)[] = []
const t = { after: (stop?: unknown) => void stops.push(stop as () => Promise<void>) }
let server: LoginServer

before(async () => {
  server = await startLoginServer(t, { accounts: {} })
})
after(async () => {
  for (const stop of stops) await stop()
})

async function loggedIn(): Promise<Browser> {
  const { id } = await addUser(server.core)
  const [name = '', value = ''] = (await logIn(server.core, id)).split('=')
  const browser = server.browser()
  browser.jar.set(name, value)
  return browser
}

const statusOf = async (browser: Browser) => (await browser.get('/users/@me')).status

describe('POST /app/logout', () => {
  it('ends the session and no other', async () => {
    const [browser, other] = [await loggedIn(), await loggedIn()]
    const copy = new Map(browser.jar)
    const visit = await browser.post('/app/logout', {}, { origin: BASE_URL })
    assert.deepEqual([visit.status, visit.location?.pathname], [303, '/app/login'])
    assert.equal(browser.jar.size, 0)
    for (const [name, value] of copy) browser.jar.set(name, value)
    assert.deepEqual([await statusOf(browser), await statusOf(other)], [401, 200])
  })

  it('S17: is refused from a page of another site', async () => {
    const browser = await loggedIn()
    for (const headers of FOREIGN_SITE) {
      const { status, cookies } = await browser.post('/app/logout', {}, headers)
      assert.deepEqual([status, cookies], [403, []])
    }
    assert.equal(await statusOf(browser), 200)
  })

  it('does no harm without a session, and is no GET', async () => {
    const visit = await server.browser().post('/app/logout')
    assert.equal(visit.status, 303)
    const browser = await loggedIn()
    await browser.get('/app/logout')
    assert.equal(await statusOf(browser), 200)
  })

  it('leads below the path of base_url', async (own) => {
    const below = await startLoginServer(own, {
      ...{ accounts: {}, baseUrl: 'https://pillarbox.test/mail' },
    })
    const visit = await below.browser().post('https://pillarbox.test/app/logout')
    assert.equal(visit.location?.pathname, '/mail/app/login')
  })
})
