/** The session of a page: going back to a page that the browser kept, the sign-out, and a newer version of the server. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { useDashboard } from './dashboard.ts'

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
