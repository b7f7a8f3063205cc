/** A list in pages, for those who want no endless scrolling: the way to it, its pages, and the way back from a row. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findAccessFaults, findWideElements, settled, useDashboard } from './dashboard.ts'
import { answerManyEmails, type ManyEmails } from './many-emails.ts'

const dashboard = useDashboard()

type PagesOptions = { count?: number; pageRows?: number; width?: number; scheme?: 'light' | 'dark' }

/** Opens a list of so many emails, and turns its pages on by keyboard. */
async function visitPages(
  { count = 250, pageRows, ...options }: PagesOptions,
  look: (page: Page, emails: ManyEmails) => Promise<void>,
): Promise<void> {
  const person = await dashboard.makePerson()
  // The page of an email that only the list knows is not found.
  const expected = /status of 404/
  await dashboard.visit({ person, path: '/app/me', expected, ...options }, async (page) => {
    const emails = await answerManyEmails(page, count, pageRows)
    const { url, project } = dashboard.program()
    await page.goto(new URL(`/app/${project.id}/emails`, url()).href)
    await row(page, 0).waitFor()
    await page.getByRole('button', { name: 'View' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('checkbox', { name: /^Pages of 100 rows/ }).focus()
    await page.keyboard.press('Space')
    await page.getByText('Rows 1 to').waitFor()
    await page.keyboard.press('Escape')
    await look(page, emails)
  })
}

/** `at`: the place in its page. */
const row = (page: Page, at: number) => page.locator(`tr[data-row="${at}"]`)

const button = (page: Page, name: 'Next' | 'Previous') =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name })

async function press(page: Page, name: 'Next' | 'Previous'): Promise<void> {
  await button(page, name).focus()
  await page.keyboard.press('Enter')
}

/** Waits until the page begins with this email, and the focus is on it. */
async function begins(page: Page, email: number, text: string): Promise<void> {
  await page.getByText(text, { exact: true }).waitFor()
  await row(page, 0).getByText(`Mail ${email}`, { exact: true }).waitFor()
  await row(page, 0).locator('a:focus').waitFor()
  assert.equal(await row(page, 0).getAttribute('aria-rowindex'), String(email + 2))
}

describe('a list in pages', { skip: dashboard.skip }, () => {
  test('has Next and Previous, and each page begins at its first row', async () => {
    await visitPages({}, async (page, { cursors }) => {
      const asked = () => [...new Set(cursors)]
      assert.equal(await button(page, 'Previous').getAttribute('aria-disabled'), 'true')
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      await row(page, 99).waitFor()
      assert.equal(await row(page, 100).count(), 0)
      // The end of a page asks for no more: only Next does.
      assert.deepEqual(asked(), [''])
      await press(page, 'Next')
      await begins(page, 100, 'Rows 101 to 200 of 250')
      assert.deepEqual(asked(), ['', '100'])
      await press(page, 'Next')
      await begins(page, 200, 'Rows 201 to 250 of 250')
      assert.equal(await button(page, 'Next').getAttribute('aria-disabled'), 'true')
      await press(page, 'Next')
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      await row(page, 49).waitFor()
      assert.equal(await row(page, 49).getAttribute('aria-rowindex'), '251')
      assert.equal(await row(page, 50).count(), 0)
      assert.equal(await page.locator('table').getAttribute('aria-rowcount'), '251')
      await press(page, 'Previous')
      await begins(page, 100, 'Rows 101 to 200 of 250')
      await press(page, 'Previous')
      await begins(page, 0, 'Rows 1 to 100 of 250')
      // What was loaded is not asked for again.
      assert.deepEqual(asked(), ['', '100', '200'])
    })
  })

  test('has no further page where the last one is full', async () => {
    await visitPages({ count: 200 }, async (page) => {
      await press(page, 'Next')
      await begins(page, 100, 'Rows 101 to 200 of 200')
      assert.equal(await button(page, 'Next').getAttribute('aria-disabled'), 'true')
    })
  })

  test('has full pages where the server answers fewer rows at a time', async () => {
    await visitPages({ count: 250, pageRows: 40 }, async (page) => {
      await page.getByText('Rows 1 to 100 of 250').waitFor()
      await press(page, 'Next')
      await begins(page, 100, 'Rows 101 to 200 of 250')
    })
  })

  test('is found again at the page and the row that were opened', async () => {
    await visitPages({}, async (page, { pathOf }) => {
      await press(page, 'Next')
      await begins(page, 100, 'Rows 101 to 200 of 250')
      for (let count = 0; count < 30; count += 1) await page.keyboard.press('j')
      await row(page, 30).locator('a:focus').waitFor()
      const top = await page.evaluate<number>('scrollY')
      await page.keyboard.press('Enter')
      await page.waitForURL(new RegExp(`${pathOf(130)}$`))
      await page.goBack()
      await page.getByText('Rows 101 to 200 of 250').waitFor()
      await row(page, 30).locator('a:focus').waitFor()
      assert.equal(await row(page, 30).getAttribute('aria-rowindex'), '132')
      assert.equal(await page.evaluate('scrollY'), top)
    })
  })

  test('begins anew with another filter, which keeps the focus, and with newer rows', async () => {
    await visitPages({}, async (page, { addNewest }) => {
      await press(page, 'Next')
      await begins(page, 100, 'Rows 101 to 200 of 250')
      await page.keyboard.press('/')
      await page.keyboard.type('person')
      await page.waitForURL(/q=person/)
      await page.getByText('Rows 1 to 100 of 250').waitFor()
      await row(page, 0).getByText('Mail 0', { exact: true }).waitFor()
      assert.equal(await page.getByRole('searchbox').evaluate((one) => one.matches(':focus')), true)
      await press(page, 'Next')
      await begins(page, 100, 'Rows 101 to 200 of 250')
      addNewest()
      await page.getByRole('button', { name: '1 new' }).click()
      await page.getByText('Rows 1 to 100 of 250').waitFor()
      await row(page, 0).getByText('Mail -1', { exact: true }).waitFor()
    })
  })

  test('is kept for the user, for all lists, until it is turned off', async () => {
    await visitPages({}, async (page) => {
      await page.reload()
      await page.getByText('Rows 1 to 100 of 250').waitFor()
      await page.getByRole('button', { name: 'View' }).click()
      const choice = page.getByRole('checkbox', { name: /^Pages of 100 rows/ })
      assert.equal(await choice.isChecked(), true)
      await choice.uncheck()
      await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'detached' })
      await page.keyboard.press('Escape')
      await page.keyboard.press('End')
      await row(page, 99).locator('a:focus').waitFor()
      await row(page, 100).waitFor()
      await page.keyboard.press('j')
      await row(page, 100).locator('a:focus').waitFor()
    })
  })

  for (const [width, scheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    test(`has no fault that axe finds, at ${width} pixels, ${scheme}`, async () => {
      await visitPages({ width, scheme }, async (page) => {
        await settled(page)
        assert.deepEqual(await findAccessFaults(page), [])
        await press(page, 'Next')
        await begins(page, 100, 'Rows 101 to 200 of 250')
        assert.deepEqual(await findAccessFaults(page), [])
        assert.deepEqual(await findWideElements(page), [])
      })
    })
  }
})
