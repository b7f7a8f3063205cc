/** The session of a page: going back to a page that the browser kept, the sign-out, and a newer version of the server. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findAccessFaults, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()
const has = { skip: dashboard.skip }

/** As the browser does when somebody goes back to a page that it kept. */
const wakeUp = (page: Page) =>
  page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)

describe('a page that the browser kept', has, () => {
  test('goes on with what was typed, and asks again', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/me' }, async (page) => {
      await page.getByLabel('New password').fill('typed text')
      const asked = page.waitForRequest(/\/users\/@me\/projects$/)
      await wakeUp(page)
      await asked
      assert.equal(await page.getByLabel('New password').inputValue(), 'typed text')
    })
  })

  test('is loaded anew when the person has signed out, or is another one', async () => {
    const person = await dashboard.makePerson()
    for (const change of ['removeItem(name)', `setItem(name, 'another')`]) {
      await dashboard.visit({ person, path: '/app/me' }, async (page) => {
        await page.getByLabel('New password').fill('typed text')
        await page.evaluate(`const name = 'pillarbox.signed-in'; localStorage.${change}`)
        const loaded = page.waitForEvent('load')
        await wakeUp(page)
        await loaded
        assert.equal(await page.getByLabel('New password').inputValue(), '')
      })
    }
  })
})

test(
  'a sign-out that fails says so at its place, can be done again, and leaves nothing',
  has,
  async () => {
    const person = await dashboard.makePerson()
    const expected = /status of 500/
    await dashboard.visit({ person, path: '/app/PROJECT/emails', expected }, async (page) => {
      await page.locator('h1').waitFor()
      await page.evaluate(`localStorage.setItem('pillarbox.setup', 'checks')`)
      await page.route('**/auth/logout', (route) =>
        route.fulfill({
          status: 500,
          json: { error: { code: 'INTERNAL_SERVER_ERROR', message: '' } },
        }),
      )
      const account = page.getByRole('navigation', { name: 'Account' })
      await account.getByRole('button', { name: 'Sign out' }).click()
      await account.getByRole('alert').getByText('You are still signed in.').waitFor()
      assert.match(page.url(), /\/emails$/)
      assert.deepEqual(await findAccessFaults(page), [])
      await page.unroute('**/auth/logout')
      await account.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL(/\/app\/login$/)
      const kept = await page.evaluate('Object.keys(localStorage)')
      assert.deepEqual(
        (kept as string[]).filter((name) => /setup|signed-in/.test(name)),
        [],
      )
    })
  },
)

test('a newer version of the server is told of at the doors too', has, async () => {
  const doors = [
    {
      path: '/app/login',
      calls: '**/auth/login',
      fields: ['Address', 'Password'],
      button: 'Sign in',
    },
    {
      path: '/app/forgot',
      calls: '**/auth/request-password-reset',
      fields: ['Address'],
      button: 'Send',
    },
  ]
  for (const { path, calls, fields, button } of doors) {
    const expected = /Failed to load resource/
    await dashboard.visit({ path: '/app/nowhere', expected }, async (page) => {
      const answerFrom = async (pattern: string, version: string) => {
        await page.route(pattern, async (route) => {
          const response = await route.fetch()
          const headers = { ...response.headers(), 'x-pillarbox-version': version }
          return route.fulfill({ response, headers })
        })
      }
      await answerFrom('**/config', '1.0.0')
      await answerFrom(calls, '99.0.0')
      await page.goto(new URL(path, dashboard.program().url()).href)
      for (const field of fields) await page.getByLabel(field).fill('ada@people.test')
      await page.getByRole('button', { name: button }).click()
      await page.getByText('A newer version is running.').waitFor()
      await page.getByRole('button', { name: 'Reload' }).waitFor()
      assert.deepEqual(await findAccessFaults(page), [])
    })
  }
})
