/** The guide in a real browser: its list of pages, its code and its tables in wide and narrow windows. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { useService } from '../../http/service.ts'
import { useChromium } from './chromium.ts'
import { enlargeLetters, lowestContrast, overflow } from './page-layout.ts'

const { service } = useService()
const chromium = useChromium()

const PAGES = ['', '/contacts', '/configuration', '/templates', '/monitoring', '/operations']
const WIDE = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

/** The blocks of commands of which a part is not to be seen without scrolling. */
const countCut = `[...document.querySelectorAll('pre')].filter((block) =>
  !block.querySelector('.language-text') && block.scrollWidth > block.clientWidth).length`

async function visit(page: Page, name: string): Promise<void> {
  await page.goto(`${service.url}/docs/guide${name}`)
}

describe('the guide in Chromium', { skip: chromium.skip }, () => {
  for (const [name, viewport] of Object.entries({ wide: WIDE, narrow: PHONE })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`fits into a ${name} window, and no command is cut (${colorScheme})`, async () => {
        await chromium.visit({ viewport, colorScheme }, async (page) => {
          for (const each of PAGES) {
            await visit(page, each)
            const width = 'document.documentElement.scrollWidth - innerWidth'
            assert.ok(Number(await page.evaluate(width)) <= 0, each)
            assert.equal(await page.evaluate(countCut), 0, each)
            const { ratio, text } = await page.evaluate(lowestContrast)
            assert.ok(ratio >= 4.5, `${each} ${text} ${ratio}`)
          }
        })
      })
    }
  }

  test('a table of a narrow window is not wider than it, also with large letters', async () => {
    await chromium.visit({ viewport: PHONE }, async (page) => {
      await visit(page, '/configuration')
      assert.equal(await page.evaluate(overflow), 0)
      await page.evaluate(enlargeLetters)
      assert.equal(await page.evaluate(overflow), 0)
      const name = await page.evaluate(
        `getComputedStyle(document.querySelector('td[data-name]'), '::before').content`,
      )
      assert.match(String(name), /key/)
    })
  })

  test('the list of pages stands at the side, and folds without scripts on a phone', async () => {
    await chromium.visit({ viewport: WIDE, javaScriptEnabled: false }, async (page) => {
      await visit(page, '/contacts')
      const current = page.locator('[aria-current=page]:visible')
      assert.equal(await current.textContent(), 'Contacts')
      await page.getByRole('link', { name: 'Workflows', exact: true }).first().click()
      await page.getByRole('heading', { level: 1, name: 'Workflows', exact: true }).waitFor()
      await page.setViewportSize(PHONE)
      assert.equal(await page.locator('[aria-current=page]:visible').count(), 0)
      await page.getByText('Pages of the guide').click()
      assert.equal(await page.locator('[aria-current=page]:visible').textContent(), 'Workflows')
      assert.equal(await page.getByRole('button').count(), 0)
    })
  })

  test('a button copies a block of code as it stands in the page', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    await chromium.visit({ viewport: WIDE, permissions }, async (page) => {
      await visit(page, '/contacts')
      // Else the button has its first text again before a busy machine looks.
      await page.evaluate('window.setTimeout = () => 0')
      await page.getByRole('button', { name: 'Copy' }).first().click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      const copied = String(await page.evaluate('navigator.clipboard.readText()'))
      assert.match(copied, /^curl -sS http:\/\/127\.0\.0\.1:8080\/contacts .*\n.*\n {2}-d '.*'$/)
    })
  })

  test('the contents of a page lead to its sections', async () => {
    await chromium.visit({ viewport: PHONE }, async (page) => {
      await visit(page, '/contacts')
      await page.getByText('On this page').click()
      await page.getByRole('link', { name: 'Bulk work' }).click()
      await page.waitForURL(/#bulk-work$/)
    })
  })
})
