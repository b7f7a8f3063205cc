/** Faults of one part: the rest of the page stays, and the part can be had again without a reload. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

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
