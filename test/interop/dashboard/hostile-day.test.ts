/** A day on which everything fails: each screen says what failed in its place, and recovers without a reload. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { findAccessFaults, findWideElements, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

/** What the console says of answers that are errors, and of connections that fail. */
const EXPECTED = /Failed to load resource|net::ERR_/

/** A screen, the call that its main part makes, and what shows that the part is there. */
const SCREENS = [
  { path: 'emails', calls: /\/emails\?/, there: 'For the hostile day' },
  { path: 'activity', calls: /\/activity\?/, there: 'For the hostile day' },
] as const

const json = (status: number, code: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({
    success: false,
    error: { code, message: `The server says ${code}.`, statusCode: status, requestId: 'req-1' },
  }),
})

const FAILURES = {
  'a fault of the server': json(500, 'INTERNAL_SERVER_ERROR'),
  'too many requests': json(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '1' }),
  'the page of a proxy': { status: 200, contentType: 'text/html', body: '<h1>Hotel Wi-Fi</h1>' },
  'a refusal': json(403, 'FORBIDDEN'),
} as const

describe('on a hostile day', { skip: dashboard.skip }, () => {
  for (const { path, calls, there } of SCREENS) {
    test(`${path} shows each failure in its place, and recovers`, async () => {
      await makeMail()
      const person = await dashboard.makePerson()
      await dashboard.visit({ person, path: '/app/me', expected: EXPECTED }, async (page) => {
        for (const [name, answer] of Object.entries(FAILURES)) {
          await dashboard.open(page, '/app/me')
          const fail = (route: Route) => route.fulfill(answer)
          await page.route(calls, fail)
          await go(page, path)
          const alert = page.locator('main').getByRole('alert')
          await alert.waitFor()
          assert.doesNotMatch((await alert.textContent()) ?? '', /Hotel|undefined/, name)
          assert.equal(await page.locator('h1').count(), 1, name)
          assert.deepEqual(await findAccessFaults(page), [], name)
          assert.deepEqual(await findWideElements(page), [], name)
          await page.unroute(calls, fail)
          await page.getByRole('button', { name: 'Try again' }).first().click()
          await page.getByRole('link', { name: there }).first().waitFor()
          await alert.waitFor({ state: 'detached' })
        }
      })
    })
  }

  test('a server that is busy is asked again without a click', async () => {
    await makeMail()
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/me', expected: EXPECTED }, async (page) => {
      let count = 0
      await page.route(/\/emails\?/, (route) => {
        count += 1
        const busy = json(503, 'EXTERNAL_SERVICE_ERROR', { 'retry-after': '1' })
        return count === 1 ? route.fulfill(busy) : route.fallback()
      })
      await go(page, 'emails')
      await page.getByRole('link', { name: 'For the hostile day' }).first().waitFor()
      assert.ok(count >= 2)
    })
  })

  test('without a connection the rows stay, a banner says so, and it goes by itself', async () => {
    await makeMail()
    const person = await dashboard.makePerson()
    const path = '/app/PROJECT/emails'
    await dashboard.visit({ person, path, expected: EXPECTED }, async (page) => {
      const row = page.getByRole('link', { name: 'For the hostile day' }).first()
      await row.waitFor()
      await page.context().setOffline(true)
      await page.getByText('The server cannot be reached.').first().waitFor()
      assert.ok(await row.isVisible())
      await page.context().setOffline(false)
      await page.getByText('The server cannot be reached.').first().waitFor({ state: 'detached' })
    })
  })

  test('a newer version says so, and the page goes on', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/PROJECT/emails' }, async (page) => {
      await page.locator('h1').waitFor()
      await page.route(/\/emails\?/, async (route) => {
        const response = await route.fetch()
        const headers = { ...response.headers(), 'x-pillarbox-version': '99.0.0' }
        return route.fulfill({ response, headers })
      })
      await page.getByText('A newer version is running.').waitFor()
      await page.getByRole('button', { name: 'Reload' }).waitFor()
    })
  })

  test('a part that is gone from the server says that a newer version runs', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, expected: EXPECTED }, async (page) => {
      await page.locator('h1').waitFor()
      await page.route(/\/assets\/palette-/, (route) => route.fulfill({ status: 404, body: '' }))
      await page.keyboard.press('Control+k')
      await page.getByText('A newer version is running.').waitFor()
    })
  })
})

async function makeMail(): Promise<void> {
  const program = dashboard.program()
  await program.receive('hostile.test')
  const [id = ''] = await program.send({ to: 'ann@hostile.test', subject: 'For the hostile day' })
  await program.untilState(id, 'delivered')
}

/** Leads to a screen of the project as a click does, so that the routes of the test hold for its calls. */
async function go(page: Page, screen: string): Promise<void> {
  await page.locator('h1').waitFor()
  const nav = page.getByRole('navigation', { name: 'Main' })
  await nav.getByRole('link', { name: screen === 'emails' ? 'Emails' : 'Activity' }).click()
  await page.waitForURL(new RegExp(`/${screen}$`))
}
