/** The palette: what it lists while the server looks, what Enter opens, and what its actions do. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { findAccessFaults, settled, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

const emailHit = (id: string, title: string) => ({
  ...{ kind: 'email', id, title, detail: 'ann@example.org', workflowId: null },
})

/** Answers of the search that wait until they are let go. */
async function holdSearch(page: Page, answers: Record<string, unknown[]>) {
  const held = new Map<string, PromiseWithResolvers<void>>()
  const asked = new Map<string, PromiseWithResolvers<void>>()
  for (const text of Object.keys(answers)) {
    held.set(text, Promise.withResolvers())
    asked.set(text, Promise.withResolvers())
  }
  await page.route('**/search?*', async (route: Route) => {
    const text = new URL(route.request().url()).searchParams.get('q') ?? ''
    asked.get(text)?.resolve()
    await held.get(text)?.promise
    // The page may have dropped the call by then.
    await route.fulfill({ json: answers[text] ?? [] }).catch(() => undefined)
  })
  return {
    release: (text: string) => held.get(text)?.resolve(),
    untilAsked: (text: string) => asked.get(text)?.promise,
  }
}

async function openPalette(page: Page) {
  await settled(page)
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox')
  await field.waitFor()
  return {
    field,
    options: page.getByRole('option'),
    chosen: page.locator('[role=option][aria-selected=true]'),
  }
}

describe('the search of the palette', { skip: dashboard.skip }, () => {
  test('shows no hit of an older text, and keeps the chosen entry when hits arrive', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person }, async (page) => {
      const search = await holdSearch(page, {
        them: [emailHit('old', 'A hit of the older text')],
        theme: [emailHit('new', 'Theme of the newer text')],
      })
      const { field, options, chosen } = await openPalette(page)
      await field.fill('them')
      search.release('them')
      await options.filter({ hasText: 'A hit of the older text' }).waitFor()
      await field.fill('theme')
      await options.filter({ hasText: 'Theme: Light' }).waitFor()
      assert.equal(await options.filter({ hasText: 'older text' }).count(), 0)
      await page.keyboard.press('ArrowDown')
      const before = await chosen.textContent()
      search.release('theme')
      await options.filter({ hasText: 'Theme of the newer text' }).waitFor()
      assert.equal(await chosen.textContent(), before)
    })
  })

  test('opens what a pasted address or id names, although Enter was faster than the server', async () => {
    const program = dashboard.program()
    await program.receive('fast.test')
    const [id = ''] = await program.send({ to: 'ann@fast.test', subject: 'Faster than the server' })
    const person = await dashboard.makePerson('MEMBER')
    for (const text of [id, `<${id}@example.test>`]) {
      await dashboard.visit({ person }, async (page) => {
        const search = await holdSearch(page, { [text]: [emailHit(id, 'Faster than the server')] })
        const { field } = await openPalette(page)
        await field.fill(text)
        await page.keyboard.press('Enter')
        await search.untilAsked(text)
        assert.equal(await page.getByRole('dialog').count(), 1)
        search.release(text)
        await page.waitForURL(new RegExp(`/emails/${id}$`))
      })
    }
    await dashboard.visit({ person }, async (page) => {
      const { field, options } = await openPalette(page)
      await field.fill('ann@fast.test')
      await options.filter({ hasText: 'contact' }).click()
      await page.waitForURL(/\/emails\?q=ann%40fast\.test$/)
      await page.waitForURL(/\/emails/)
      await page.getByRole('link', { name: 'Faster than the server' }).first().waitFor()
    })
  })

  test('opens the chosen page at once when the text is a word', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person }, async (page) => {
      const search = await holdSearch(page, { activ: [emailHit('x', 'Activation')] })
      const { field } = await openPalette(page)
      await field.fill('activ')
      await search.untilAsked('activ')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/activity$/)
      search.release('activ')
    })
  })

  test('says that it failed, and looks again', async () => {
    const person = await dashboard.makePerson()
    const expected = /Failed to load resource/
    await dashboard.visit({ person, expected }, async (page) => {
      const code = 'INTERNAL_SERVER_ERROR'
      const fail = (route: Route) =>
        route.fulfill({ status: 500, json: { success: false, error: { code, message: 'no' } } })
      await page.route('**/search?*', fail)
      const { field } = await openPalette(page)
      await field.fill('zzz larkspur')
      const alert = page.getByRole('dialog').getByRole('alert')
      await alert.getByText('The search has failed').waitFor()
      assert.equal(await page.getByText('Nothing is found').count(), 0)
      await page.unroute('**/search?*', fail)
      await alert.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('Nothing is found').waitFor()
      assert.equal(await alert.count(), 0)
      assert.equal(await page.evaluate('document.activeElement.role'), 'combobox')
    })
  })
})

/** Opens the palette and takes the action that the text finds. */
async function act(page: Page, text: string, name: string) {
  const { field, chosen } = await openPalette(page)
  await field.fill(text)
  await chosen.filter({ hasText: name }).waitFor()
  await page.keyboard.press('Enter')
}

const attribute = (page: Page, name: string) => page.locator('html').getAttribute(name)

describe('the actions of the palette', { skip: dashboard.skip }, () => {
  test('change theme and density, switch the project, and show first steps and keys', async () => {
    const { program } = dashboard
    await program().receive('acts.test')
    const [id = ''] = await program().send({ to: 'ann@acts.test' })
    await program().untilState(id, 'delivered')
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/PROJECT/activity' }, async (page) => {
      await act(page, 'theme dark', 'Theme: Dark')
      assert.equal(await attribute(page, 'data-theme'), 'dark')
      await act(page, 'theme system', 'Theme: As the system')
      assert.equal(await attribute(page, 'data-theme'), null)
      await act(page, 'comfortable', 'Density: Comfortable')
      assert.equal(await attribute(page, 'data-density'), 'comfortable')
      const { options } = await openPalette(page)
      assert.deepEqual((await options.locator('.grow').allTextContents()).slice(0, 3), [
        ...['Density: Comfortable', 'Theme: As the system', 'Theme: Dark'],
      ])
      await page.keyboard.press('Escape')
      await act(page, 'keys', 'Keys of this page')
      await page.getByRole('dialog', { name: 'Keys of this page' }).waitFor()
      await page.keyboard.press('Escape')
      assert.equal(await page.getByRole('dialog').count(), 0)
      await act(page, 'first steps', 'Show the first steps')
      await page.getByRole('heading', { level: 1, name: 'Your first mail' }).waitFor()
      const data = { name: 'Second of the palette' }
      const headers = { origin: new URL(page.url()).origin }
      await page.request.post(new URL('/users/@me/projects', page.url()).href, { data, headers })
      await page.reload()
      await act(page, 'second', 'Switch to Second of the palette')
      await page.locator('.side .switch b', { hasText: data.name }).waitFor()
    })
  })

  test('suppress an address that is typed, and say there whether it is done', async () => {
    const person = await dashboard.makePerson('MEMBER')
    await dashboard.visit({ person, expected: /status of 500/ }, async (page) => {
      await settled(page)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      const before = await page.evaluate('document.activeElement.outerHTML')
      const fail = (route: Route) =>
        route.fulfill({
          status: 500,
          json: { success: false, error: { code: 'INTERNAL_SERVER_ERROR', message: 'no' } },
        })
      await page.route('**/suppressions', fail)
      await act(page, 'suppress alice@example.org', 'Suppress alice@example.org')
      const dialog = page.getByRole('dialog', { name: 'Suppress alice@example.org' })
      await dialog.getByText('Nothing is sent to this address').waitFor()
      const button = dialog.getByRole('button', { name: 'Suppress', exact: true })
      await button.click()
      await dialog.getByRole('alert').getByText('Not done').waitFor()
      await page.unroute('**/suppressions', fail)
      await button.click()
      await dialog.getByRole('status').getByText('The address is suppressed.').waitFor()
      await page.keyboard.press('Escape')
      assert.equal(await page.evaluate('document.activeElement.outerHTML'), before)
      await act(page, 'suppress alice@example.org', 'Suppress alice@example.org')
      await button.click()
      await dialog.getByRole('status').getByText('was suppressed before').waitFor()
      assert.deepEqual(await findAccessFaults(page), [])
    })
    const { body } = await dashboard.program().call('GET', '/suppressions?search=alice')
    const { data } = body as { data: { email: string; reason: string }[] }
    assert.deepEqual(
      data.map(({ email, reason }) => [email, reason]),
      [['alice@example.org', 'MANUAL']],
    )
  })
})
