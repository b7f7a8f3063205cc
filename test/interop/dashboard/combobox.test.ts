/** The field to choose one of many: the time zone of the account, and the campaign of a list. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Locator, Page, Route } from 'playwright-core'
import { eventually } from '../../e2e/program.ts'
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
        // What is typed takes the place of the name that stood there.
        await untilShown(field, 'nowhere')
        await field.fill('paris')
        await page.keyboard.press('Enter')
        await page.getByText('Saved').waitFor()
        await untilShown(field, 'Europe/Paris')
        await page.keyboard.type('berl')
        const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
        await page.keyboard.press('Enter')
        await (await saved).finished()
        await untilShown(field, 'Europe/Berlin')
        await page.reload()
        await settled(page)
        await field.waitFor()
        await untilShown(field, 'Europe/Berlin')
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
    const expected = /status of 500/
    await dashboard.visit({ person, path: '/app/PROJECT/emails', expected }, async (page) => {
      const chip = page.getByRole('button', { name: 'Campaign' })
      await chip.click()
      const options = page.getByRole('option')
      await page.getByRole('combobox', { name: 'Campaign' }).and(page.locator(':focus')).waitFor()
      const list = page.getByRole('listbox', { name: 'Campaign' })
      const none = page.getByText('Nothing has this name.')
      const names = ['Winter letter', 'Bulb sale', 'Autumn letter']
      await options.getByText('Bulb sale').waitFor()
      assert.deepEqual(await options.allTextContents(), names)
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      await page.route(/search=/, async (route) => {
        await held
        await route.continue()
      })
      const asked = page.waitForRequest(/search=nowhere/)
      await page.keyboard.type('nowhere')
      await asked
      // What was found before stays, dimmed, until the answer is there.
      assert.equal(await list.getAttribute('aria-busy'), 'true')
      assert.deepEqual(await options.allTextContents(), names)
      assert.equal(await none.count(), 0)
      release()
      await none.waitFor()
      const field = page.getByRole('combobox', { name: 'Campaign' })
      await field.fill('letter')
      await options.getByText('Autumn letter').waitFor()
      assert.deepEqual(await options.allTextContents(), ['Winter letter', 'Autumn letter'])
      assert.equal(await none.count(), 0)
      assert.deepEqual(await findAccessFaults(page), [])
      // A search that fails says so below the field, and the field keeps what is typed.
      const json = { error: { code: 'INTERNAL_SERVER_ERROR', message: 'no' } }
      const fail = (route: Route) => route.fulfill({ status: 500, json })
      await page.route(/search=winter/, fail)
      await field.fill('winter')
      const alert = page.getByRole('dialog').getByRole('alert')
      await alert.waitFor()
      assert.equal(await field.inputValue(), 'winter')
      assert.equal(await none.count(), 0)
      assert.deepEqual(await findAccessFaults(page), [])
      await page.unroute(/search=winter/, fail)
      await alert.getByRole('button', { name: 'Try again' }).click()
      await alert.waitFor({ state: 'detached' })
      await options.getByText('Winter letter').waitFor()
      assert.equal(await field.inputValue(), 'winter')
      await field.and(page.locator(':focus')).waitFor()
      // What an arrow has marked is chosen, although the answer is still on its way.
      await field.fill('letter')
      await options.getByText('Autumn letter').waitFor()
      const { promise: late, resolve: answer } = Promise.withResolvers<void>()
      await page.route(/search=letters/, async (route) => {
        await late
        await route.continue()
      })
      const looked = page.waitForRequest(/search=letters/)
      await page.keyboard.type('s')
      await looked
      const marked = page.locator('[role=option][data-highlighted]', { hasText: 'Autumn letter' })
      await eventually(async () => {
        if ((await marked.count()) > 0) return true
        await page.keyboard.press('ArrowDown')
        return undefined
      })
      await page.keyboard.press('Enter')
      await page.waitForURL(/[?]campaign=/)
      answer()
      await page.getByRole('button', { name: /^Campaign: Autumn letter/ }).waitFor()
    })
  })

  test('chooses what is found, however soon Enter comes after the last letter', async () => {
    const { program } = dashboard
    const body = { name: 'Swift', from: 'shop@example.test', subject: 'Swift', body: '<p>x</p>' }
    const made = await program().call('POST', '/campaigns', { ...body, audienceType: 'ALL' })
    assert.equal(made.status, 201)
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/PROJECT/emails' }, async (page) => {
      await page.getByRole('button', { name: 'Campaign' }).click()
      const field = page.getByRole('combobox', { name: 'Campaign' })
      await field.and(page.locator(':focus')).waitFor()
      await page.getByRole('option').first().waitFor()
      await enterAtOnce(page, 'swift')
      await page.waitForURL(/[?]campaign=/)
      await page.getByRole('button', { name: /^Campaign: Swift/ }).waitFor()
      await page.goto(new URL('/app/me', page.url()).href)
      await settled(page)
      const zone = page.getByRole('combobox', { name: 'Time zone' })
      await zone.click()
      await page.getByRole('listbox', { name: 'Time zone' }).getByRole('option').first().waitFor()
      await enterAtOnce(page, 'berl')
      await page.getByText('Saved').waitFor()
      await untilShown(zone, 'Europe/Berlin')
    })
  })
})

/** Both events come before the browser draws a frame, so no effect of the first has run. */
async function enterAtOnce(page: Page, text: string): Promise<void> {
  await page.evaluate(`(async () => {
    const field = document.activeElement
    field.value = ${JSON.stringify(text)}
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    await new Promise((done) => queueMicrotask(() => queueMicrotask(done)))
    await Promise.resolve().then(() => {}).then(() => {}).then(() => {})
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
  })()`)
}

/** The field shows what was chosen some frames after the choice. */
async function untilShown(field: Locator, value: string): Promise<void> {
  await eventually(async () => (await field.inputValue()) === value || undefined)
}
