/** The dashboard by keys alone: from the sign-in to a mail and back, with the focus in sight all the way. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createUser } from '../../../src/features/tenancy/accounts/users/users.ts'
import { addMember } from '../../session.ts'
import { settled, useDashboard } from './dashboard.ts'

const PASSWORD = 'correct horse battery'

/** More than any page has. */
const MAX_CONTROLS = 200

const dashboard = useDashboard()

/** The element with the focus: its tag, and what it is called. */
const focus = (page: Page) =>
  page.evaluate(`(() => {
    const { tagName, textContent, ariaLabel, name } = document.activeElement
    return [tagName, (ariaLabel || name || textContent).trim()]
  })()`) as Promise<[string, string]>

/** Tab once round the page: what it misses, where the focus does not show, and how often it goes back. */
async function walk(page: Page) {
  // Parts that come later would change the way.
  await page.waitForLoadState('networkidle')
  await page.evaluate(`globalThis.walked = []
    globalThis.controls = () => [...document.querySelectorAll(
      'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"]'
    )].filter((one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }))`)
  const hidden: string[] = []
  for (let at = 0; at < MAX_CONTROLS; at += 1) {
    await page.keyboard.press('Tab')
    const [isNew, name, isSeen] = (await page.evaluate(`(() => {
      const one = document.activeElement
      // Behind the last control, the focus leaves the page.
      if (one === document.body) return [true, '', true]
      const { outlineStyle, outlineColor, boxShadow, stroke } = getComputedStyle(one)
      // Forced colours take shadows away, and give each outline a colour.
      const isSeen = outlineStyle !== 'none' &&
        (boxShadow !== 'none' || stroke !== 'none' || outlineColor !== 'rgba(0, 0, 0, 0)')
      const isNew = !walked.includes(one)
      if (isNew) walked.push(one)
      return [isNew, one.outerHTML.slice(0, 120), isSeen]
    })()`)) as [boolean, string, boolean]
    if (!isNew) break
    if (!isSeen) hidden.push(name)
  }
  const [missed, turns] = (await page.evaluate(`[
    controls().filter((one) => !walked.includes(one)).map((one) => one.outerHTML.slice(0, 120)),
    walked.filter((one, at) => at > 0 &&
      (one.compareDocumentPosition(walked[at - 1]) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0).length,
  ]`)) as [string[], number]
  return { missed, hidden, turns }
}

describe('by keys alone', { skip: dashboard.skip }, () => {
  test('a person signs in, opens a mail and comes back to its row', async () => {
    const { core, project, receive, send, untilState } = dashboard.program()
    await receive('keys.test')
    for (const name of ['ann', 'bob', 'cid']) {
      const [id = ''] = await send({ to: `${name}@keys.test`, subject: `For ${name}` })
      await untilState(id, 'delivered')
    }
    const address = 'keys@people.test'
    const { id } = await createUser(core, { address, password: PASSWORD, isOperator: false })
    await addMember(core, { projectId: project.id, userId: id, role: 'MEMBER' })
    await dashboard.visit({ path: '/app/login' }, async (page) => {
      const { keyboard } = page
      await page.getByLabel('Address').waitFor()
      assert.deepEqual(await focus(page), ['INPUT', 'email'])
      // Single keys belong to the field.
      await keyboard.type(address)
      await keyboard.press('Tab')
      assert.deepEqual(await focus(page), ['INPUT', 'password'])
      await keyboard.type(PASSWORD)
      await keyboard.press('Enter')
      await page.waitForURL(/\/app\/[0-9a-f-]{36}$/)
      await settled(page)

      await keyboard.press('g')
      await keyboard.press('e')
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor()
      assert.deepEqual(await focus(page), ['H1', 'Emails'])
      await page.getByRole('link', { name: 'For cid' }).waitFor()
      await keyboard.press('/')
      assert.equal((await focus(page))[0], 'INPUT')
      await keyboard.type('keys.test?')
      assert.equal(await page.getByRole('searchbox').inputValue(), 'keys.test?')
      assert.equal(await page.getByRole('dialog').count(), 0)
      await keyboard.press('Backspace')
      await page.waitForURL(/q=keys\.test/)
      for (let at = 0; at < 'keys.test'.length; at += 1) await keyboard.press('Backspace')
      await page.waitForURL((url) => !url.search.includes('q='))
      await page.getByRole('link', { name: 'For ann' }).waitFor()
      // The rows of the search give way to those without it, and take the focus with them.
      await settled(page)
      await page.evaluate('document.activeElement.blur()')
      for (const key of ['j', 'j', 'j', 'k']) await keyboard.press(key)
      assert.deepEqual(await focus(page), ['A', 'For bob'])
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1 }).getByText('delivered').first().waitFor()
      assert.equal((await focus(page))[0], 'H1')
      await page.goBack()
      await page.locator('tr.current', { hasText: 'For bob' }).waitFor()
      await page.locator(':focus', { hasText: 'For bob' }).waitFor()

      await keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys of this page' }).waitFor()
      await keyboard.press('Escape')
      assert.deepEqual(await focus(page), ['A', 'For bob'])
      await keyboard.press('Control+k')
      await page.getByRole('combobox').waitFor()
      await keyboard.type('account')
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
      assert.deepEqual(await focus(page), ['H1', 'Account'])
    })
  })

  test('every control is reached in its order, and shows the focus', async () => {
    const person = await dashboard.makePerson()
    for (const path of ['/app/login', '/app/PROJECT', '/app/PROJECT/emails', '/app/me']) {
      const isIn = path !== '/app/login'
      await dashboard.visit({ ...(isIn && { person }), path }, async (page) => {
        await settled(page)
        const { turns, ...faults } = await walk(page)
        assert.deepEqual(faults, { missed: [], hidden: [] }, path)
        // Once, from the end to the beginning.
        assert.ok(turns <= 1, `${path}: ${turns} jumps back`)
      })
    }
  })

  test('single keys do nothing once the account has turned them off; Ctrl K still acts', async () => {
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/me' }, async (page) => {
      await settled(page)
      const box = page.getByRole('checkbox', { name: /single keys/i })
      await box.focus()
      await page.keyboard.press('Space')
      assert.equal(await box.isChecked(), false)
      await page.evaluate('document.activeElement.blur()')
      for (const key of ['?', 'g', 'e']) await page.keyboard.press(key)
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Search or jump' }).waitFor()
      assert.equal(await page.getByRole('dialog').count(), 1)
      assert.match(page.url(), /\/app\/me$/)
    })
  })
})
