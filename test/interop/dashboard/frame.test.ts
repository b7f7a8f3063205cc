/** What all screens of the dashboard share: the frame, the palette, the keys, and what happens when things go wrong. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findAccessFaults, findWideElements, settled, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

describe('the frame of the dashboard', { skip: dashboard.skip }, () => {
  for (const [width, scheme] of [
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const) {
    test(`has no fault that axe finds, at ${width} pixels, ${scheme}`, async () => {
      const person = await dashboard.makePerson()
      await dashboard.visit({ person, width, scheme }, async (page) => {
        await settled(page)
        assert.deepEqual(await findAccessFaults(page), [])
        assert.deepEqual(await findWideElements(page), [])
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox').fill('them')
        await page.getByRole('option').first().waitFor()
        assert.deepEqual(await findAccessFaults(page), [])
        await page.keyboard.press('Escape')
        await page.keyboard.press('?')
        await page.getByRole('heading', { name: 'Everywhere' }).waitFor()
        assert.deepEqual(await findAccessFaults(page), [])
      })
    })
  }

  test('sends a person without a session to the sign-in, and back afterwards', async () => {
    const expected = /status of 401/
    await dashboard.visit({ path: '/app/PROJECT/emails', expected }, async (page) => {
      await page.waitForURL(/\/app\/login\?next=%2Fapp%2F.*emails$/)
    })
  })

  test('shows the same page for a foreign project as for one that does not exist', async () => {
    const person = await dashboard.makePerson(null)
    await dashboard.visit({ person, path: '/app/me' }, async (page) => {
      for (const path of [
        '/app/PROJECT',
        '/app/0199a7c0-0000-7000-8000-000000000001/emails',
        '/app/x/y',
      ]) {
        await dashboard.open(page, path)
        await page.getByRole('heading', { level: 1, name: 'This page does not exist' }).waitFor()
      }
    })
  })

  test('goes everywhere by keys, and each page has the focus in its heading', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person }, async (page) => {
      await page.locator('h1').waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('e')
      await page.waitForURL(/\/emails$/)
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor()
      assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1')
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('activ')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/activity$/)
      await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
      // The title changes with the heading and its focus, in one turn of the page.
      await page.evaluate(`
        titles = []
        addEventListener('focusin', ({ target }) => {
          if (target.nodeName === 'H1') titles.push([target.textContent, document.title])
        })`)
      await page.goBack()
      await page.locator('h1:focus', { hasText: 'Emails' }).waitFor()
      assert.deepEqual(await page.evaluate('titles'), [['Emails', 'Emails · Pillarbox']])
    })
  })

  test('shows nothing of one project in another', async () => {
    const program = dashboard.program()
    await program.receive('ours.test')
    const [id = ''] = await program.send({ to: 'ann@ours.test', subject: 'Only of the first' })
    await program.untilState(id, 'delivered')
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/PROJECT/emails' }, async (page) => {
      const row = page.getByRole('link', { name: 'Only of the first' })
      await row.first().waitFor()
      const data = { name: 'Second' }
      const headers = { origin: new URL(page.url()).origin }
      await page.request.post(new URL('/users/@me/projects', page.url()).href, { data, headers })
      await page.reload()
      await row.first().waitFor()
      await page.locator('details.switcher summary').first().click()
      await page.getByRole('link', { name: 'Second' }).click()
      await page.getByRole('heading', { level: 1, name: 'Your first mail' }).waitFor()
      await page.getByRole('link', { name: 'Emails' }).first().click()
      await page.getByRole('heading', { name: 'No mail yet' }).waitFor()
      assert.equal(await row.count(), 0)
      await page.getByRole('link', { name: 'Activity' }).first().click()
      await page.getByRole('heading', { name: 'Nothing has happened yet' }).waitFor()
    })
  })

  test('keeps the scheme that was chosen, before the first paint', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, scheme: 'light' }, async (page) => {
      await page.locator('h1').waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('theme dark')
      await page.keyboard.press('Enter')
      assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
      await page.reload({ waitUntil: 'commit' })
      await page.locator('#app').waitFor({ state: 'attached' })
      assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    })
  })

  test('speaks the language of the browser, and every text has one', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, language: 'de-AT' }, async (page) => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      assert.equal(await page.evaluate('document.documentElement.lang'), 'de')
      await page.getByRole('link', { name: 'Mails' }).first().waitFor()
    })
  })
})
