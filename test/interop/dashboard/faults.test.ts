/** Faults of one part: the rest of the page stays, and the part can be had again without a reload. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

/** Marks the page, so that a reload would show. */
const mark = (page: Page) => page.evaluate('globalThis.isKept = true')
const isKept = (page: Page) => page.evaluate('globalThis.isKept === true')

describe('a part that could not be loaded', { skip: dashboard.skip }, () => {
  const expected = /net::ERR_|Failed to load resource|dynamically imported module/

  test('is loaded again at its place, with its modules run once', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/me', expected }, async (page) => {
      await page.locator('h1').waitFor()
      await mark(page)
      let isBlocked = true
      const asked: string[] = []
      await page.route(/\/assets\/activity-/, (route) => {
        asked.push(new URL(route.request().url()).search)
        return isBlocked ? route.abort() : route.fallback()
      })
      const nav = page.getByRole('navigation', { name: 'Main' })
      await nav.getByRole('link', { name: 'Activity' }).click()
      const alert = page.locator('main').getByRole('alert')
      await alert.waitFor()
      assert.equal(await page.locator('.nav').first().isVisible(), true)
      isBlocked = false
      await alert.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
      assert.equal(await alert.count(), 0)
      assert.ok(await isKept(page))
      assert.ok(asked.length >= 2)
      // A second frame would have a heading, a session and a clock of its own.
      const loaded = await page.evaluate(
        `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((name) => /\\.js$/.test(name))`,
      )
      const others = (loaded as string[]).filter((name) => !name.includes('activity-'))
      assert.deepEqual(others, [...new Set(others)])
      await nav.getByRole('link', { name: 'Emails' }).click()
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor()
      await nav.getByRole('link', { name: 'Activity' }).click()
      await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
    })
  })

  test('is tried again by itself when somebody comes back to it', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/me', expected }, async (page) => {
      await page.locator('h1').waitFor()
      let isBlocked = true
      await page.route(/\/assets\/activity-/, (route) =>
        isBlocked ? route.abort() : route.fallback(),
      )
      const nav = page.getByRole('navigation', { name: 'Main' })
      await nav.getByRole('link', { name: 'Activity' }).click()
      await page.locator('main').getByRole('alert').waitFor()
      await nav.getByRole('link', { name: 'Emails' }).click()
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor()
      isBlocked = false
      await nav.getByRole('link', { name: 'Activity' }).click()
      await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
    })
  })
})

describe('a fault of drawing', { skip: dashboard.skip }, () => {
  const expected = /Error/

  test('in a tab of an email leaves its head and its other tabs', async () => {
    const { receive, send, untilState } = dashboard.program()
    await receive('drawn.test')
    const [id = ''] = await send({ to: 'ann@drawn.test', subject: 'Drawn' })
    await untilState(id, 'delivered')
    const person = await dashboard.makePerson()
    const path = `/app/PROJECT/emails/${id}`
    await dashboard.visit({ person, path, expected }, async (page) => {
      await page.locator('h1').waitFor()
      await page.route(new RegExp(`/emails/${id}$`), async (route) => {
        if (route.request().resourceType() === 'document') return route.fallback()
        const response = await route.fetch()
        // No text has a length of this kind.
        return route.fulfill({ response, json: { ...(await response.json()), text: 7 } })
      })
      await page.reload()
      await page.getByRole('link', { name: 'Text', exact: true }).click()
      await page.locator('.story').getByRole('alert').waitFor()
      assert.match((await page.locator('h1').textContent()) ?? '', /delivered/i)
      await page.getByRole('link', { name: 'Story', exact: true }).click()
      await page.locator('.story').getByText('Attempt 1').waitFor()
      assert.equal(await page.locator('.story').getByRole('alert').count(), 0)
    })
  })

  test('in a panel of the overview leaves the others', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/me', expected }, async (page) => {
      await page.locator('h1').waitFor()
      await page.route(/\/activity\/upcoming/, (route) =>
        route.fulfill({ json: { activities: [null] } }),
      )
      await page
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name: 'Overview' })
        .click()
      const panel = page
        .locator('section', { has: page.getByRole('heading', { name: 'Next' }) })
        .last()
      await panel.getByRole('alert').waitFor()
      await page.getByRole('heading', { name: 'Where it goes' }).waitFor()
      assert.equal(await page.locator('dl.figures').count(), 1)
      await page.unroute(/\/activity\/upcoming/)
    })
  })
})
