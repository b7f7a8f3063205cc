/** The palette: what it lists while the server looks, what Enter opens, and what its actions do. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { settled, useDashboard } from './dashboard.ts'

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
