/** The field to choose one of many: the time zone of the account, and the campaign of a list. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findAccessFaults, findWideElements, settled, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

describe('a field to choose one of many', { skip: dashboard.skip }, () => {
  for (const [width, scheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    test(`finds a time zone by a part of its name, at ${width} pixels, ${scheme}`, async () => {
      const person = await dashboard.makePerson()
      await dashboard.visit({ person, width, scheme, path: '/app/me' }, async (page) => {
        await settled(page)
        const field = page.getByRole('combobox', { name: 'Time zone' })
        await field.click()
        const options = page.getByRole('listbox', { name: 'Time zone' }).getByRole('option')
        await options.first().waitFor()
        assert.ok((await options.count()) <= 100)
        assert.deepEqual(await findAccessFaults(page), [])
        assert.deepEqual(await findWideElements(page), [])
        await page.keyboard.type('nowhere')
        await page.getByText('Nothing has this name.').waitFor()
        await field.fill('berl')
        await page.keyboard.press('Enter')
        await page.getByText('Saved').waitFor()
        assert.equal(await field.inputValue(), 'Europe/Berlin')
        await page.reload()
        await settled(page)
        await field.waitFor()
        assert.equal(await field.inputValue(), 'Europe/Berlin')
      })
    })
  }

  test('finds a campaign in the server as its name is typed', async () => {
    const { program } = dashboard
    const from = 'shop@example.test'
    for (const name of ['Autumn letter', 'Bulb sale', 'Winter letter']) {
      const body = { name, from, subject: name, body: '<p>x</p>', audienceType: 'ALL' }
      assert.equal((await program().call('POST', '/campaigns', body)).status, 201)
    }
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/PROJECT/emails' }, async (page) => {
      const chip = page.getByRole('button', { name: 'Campaign' })
      await chip.click()
      const options = page.getByRole('option')
      await page.getByRole('combobox', { name: 'Campaign' }).and(page.locator(':focus')).waitFor()
      await page.keyboard.type('letter')
      await page.getByRole('option', { name: 'Bulb sale' }).waitFor({ state: 'detached' })
      assert.deepEqual(await options.allTextContents(), ['Winter letter', 'Autumn letter'])
      assert.deepEqual(await findAccessFaults(page), [])
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(/[?]campaign=/)
      await page.getByRole('button', { name: /^Campaign: (Autumn|Winter) letter/ }).waitFor()
    })
  })
})
